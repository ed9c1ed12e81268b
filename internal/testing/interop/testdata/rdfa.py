import json, sys, warnings

warnings.simplefilter("ignore")
from pyRdfa import pyRdfa
from rdflib import Literal

for s, p, o in pyRdfa(media_type="text/html").graph_from_source(sys.argv[1]):
    lang = "@" + o.language if isinstance(o, Literal) and o.language else ""
    print(json.dumps({"id": f"{s} {p} {o}{lang}"}))
