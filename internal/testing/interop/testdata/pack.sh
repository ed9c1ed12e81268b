# A package of the files in DIR/package: pack.sh SITE DIR PROGRAM
set -e
cd "$2/package"
case $3 in
zip) zip -qr ../package.zip . ;;
bsdtar) bsdtar -a -cf ../package.zip * ;;
7z) 7z a -bso0 -bsp0 ../package.zip . ;;
zipfile) /usr/bin/python3 -m zipfile -c ../package.zip * ;;
esac
