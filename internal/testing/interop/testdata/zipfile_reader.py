import hashlib, json, sys, zipfile

with zipfile.ZipFile(sys.argv[1]) as z:
    assert z.testzip() is None
    for m in z.infolist():
        time = "%d-%02d-%02dT%02d:%02d:%02dZ" % m.date_time
        print(json.dumps({"id": m.filename, "sha256": hashlib.sha256(z.read(m)).hexdigest(), "updated": time}))
