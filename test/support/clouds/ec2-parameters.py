"""Prints, for each action of EC2 that is named, the parameters of its form and their kinds, from botocore's own model of EC2."""

import json
import sys

from botocore.loaders import Loader

model = Loader().load_service_model("ec2", "service-2")
shapes = model["shapes"]


def upper(name):
    return name[0].upper() + name[1:]


def parameters(shape_name, prefix, found, above):
    shape = shapes[shape_name]
    kind = shape["type"]
    if kind == "structure":
        if shape_name in above:
            return
        for name, member in shape["members"].items():
            sent = member.get("queryName") or upper(member.get("locationName", name))
            below = f"{prefix}.{sent}" if prefix else sent
            parameters(member["shape"], below, found, above | {shape_name})
    elif kind == "list":
        parameters(shape["member"]["shape"], f"{prefix}.#", found, above)
    else:
        found[prefix] = {"kind": kind, **({"values": shape["enum"]} if "enum" in shape else {})}


actions = {}
for action in sys.argv[1:]:
    found = {}
    parameters(model["operations"][action]["input"]["shape"], "", found, frozenset())
    actions[action] = found
json.dump(actions, sys.stdout)
