"""What schemathesis can't know of edgeward: its formats, whom it counts, and which rules refuse data that is right by its form."""
import ipaddress
import itertools
import json
import os
import re

import schemathesis
from hypothesis import strategies as st
from schemathesis.specs.openapi.checks import positive_data_acceptance, use_after_free

addresses = st.one_of(
    st.integers(0, 255).map(lambda last: f"203.0.113.{last}"),
    st.integers(0, 2**64 - 1).map(lambda last: str(ipaddress.IPv6Address((0x20010DB8 << 96) + last))),
    st.ip_addresses().map(str),
)
networks = st.one_of(
    st.integers(24, 32).map(lambda length: f"203.0.113.0/{length}"),
    st.tuples(st.ip_addresses(v=6), st.integers(0, 128)).map(lambda pair: str(ipaddress.ip_network(pair, strict=False))),
)
durations = st.sampled_from(["PT0S", "PT1S", "PT4H", "P1D", "P1W", "PT1M30S", "P1Y2M3DT4H5M6S"])

schemathesis.openapi.format("ipv4", addresses.filter(lambda text: "." in text))
schemathesis.openapi.format("ipv6", addresses.filter(lambda text: ":" in text))
schemathesis.openapi.format("cidr", networks)
schemathesis.openapi.format("cidrv4", networks.filter(lambda text: "." in text))
schemathesis.openapi.format("duration", durations)

TEXTS = "application/json; numbers=string"
clients = itertools.count(1)
# Those who ask, in turn: each token of an administrator has a limit of its own, and an answer that there were too many shows nothing.
TOKENS = json.loads(os.environ.get("EDGEWARD_TOKENS", "[]"))
# What is there on the service, by the name of the parameter or field that can name it.
KNOWN = json.loads(os.environ.get("EDGEWARD_KNOWN", "{}"))


def or_known(name, schema):
    """The same, or something that is there: at random next to nothing would be named."""
    return {"anyOf": [{"enum": KNOWN[name]}, schema]} if name in KNOWN else schema


def name_what_is_there(schema):
    """In the fields of a body, which tell a number from its text."""
    if isinstance(schema, list):
        for member in schema:
            name_what_is_there(member)
    elif isinstance(schema, dict):
        for name, field in schema.get("properties", {}).items():
            if isinstance(field, dict) and field.get("type") == "string":
                texts = [value for value in KNOWN.get(name, []) if isinstance(value, str)]
                schema["properties"][name] = {"anyOf": [{"enum": texts}, field]} if texts else field
        for member in schema.values():
            name_what_is_there(member)


@schemathesis.hook
def before_load_schema(context, raw_schema):
    """It takes a type of answers without its parameters: then an answer has counts of either kind."""
    for operations in raw_schema["paths"].values():
        for operation in operations.values():
            for parameter in operation["parameters"]:
                parameter["schema"] = or_known(parameter["name"], parameter["schema"])
            for media in operation.get("requestBody", {}).get("content", {}).values():
                name_what_is_there(media["schema"])
            for answer in operation["responses"].values():
                content = answer.get("content", {})
                if TEXTS in content:
                    both = [content["application/json"]["schema"], content.pop(TEXTS)["schema"]]
                    content["application/json"] = {"schema": {"anyOf": both}}


@schemathesis.hook
def before_call(context, case, kwargs):
    # Strangers are counted by address: each request has one of its own, so that 401 is seen rather than 429.
    number = next(clients)
    # A check that asks with a wrong token, or with none, keeps what it has.
    if TOKENS and case.headers.get("Authorization") == f"Bearer {TOKENS[0]}":
        case.headers["Authorization"] = f"Bearer {TOKENS[number % len(TOKENS)]}"
    case.headers["X-Forwarded-For"] = f"10.{number >> 16 & 255}.{number >> 8 & 255}.{number & 255}"
    # What was to be deleted in a rehearsal alone is still there, which it takes for a fault.
    if case.method == "DELETE" and case.query.get("dry_run") in (True, "true"):
        del case.query["dry_run"]
    # Where waiting is possible, nothing is waited for.
    if case.operation.path.endswith("/take") and "wait" not in case.query:
        case.query["wait"] = "PT0S"


# What the rules say about data that is right by its form. Anything else that is refused with 422 should not be described as possible.
RULES = re.compile(
    "|".join(
        [
            r"does not belong to your account\.$",
            r"at most \d+ are possible\.$",
            r"must be at most \d+ days from now\.$",
            r"must be in the future\.$",
            r"goes with action disable only\.$",
            r"does not go with ",
            r"must be an IPv[46] address, like the subnet\.$",
            r"^wait: must be a",
            r"^(range|range\.\w+|cidr|range\[\w+\]): ",
            r"^region(s\.\d+)?: must be the number or the name of a region\.$",
            r"^evidence: ",
            r"^source whitelist limit reached|^range overlaps an existing whitelist entry",
            r"^prefix too broad|is reserved and cannot be whitelisted\.$",
            # Of administrators. What a double can't hold exactly is refused, which the description has no word for.
            r"must be a whole number from [01]\.$",
            r"must be at most 9007199254740991\.$",
            # A subnet is named by its number, too, where it is there.
            r" is not a CIDR: ",
            r"^after: must be (the id of|a position of)",
            r"^type: is no type of event",
            r"must be an absolute http: or https: URL|must not hold spaces or control characters",
            r"^an? \w+ name ",
            r"name: must be (lower-case|a slug)",
            r"^a name has 1 to ",
            r"^option \w+ is for the command line alone",
            r"^router .*: (option|driver) ",
            r"is required: ",
            r"^when a token runs out: ",
            r"scope",
            r"a token can't have more than its account\.$",
            r"^credentials: must be at most \d+ bytes in all",
        ]
    )
)


# The fields of these documents are known to their own rules alone, as they are on the command line, and some of them to a provider's.
DOCUMENTS = re.compile(r"/admin/v1/(worker-pools|assets|scopes|work-requests)\b")
OF_A_DOCUMENT = re.compile(r"is not a known field\.$|^(configuration|credentials|specifications)\b.*: ")


@schemathesis.check
def accepted_or_refused_by_a_rule(ctx, response, case):
    if response.status_code == 422:
        message = response.json()["message"]
        if RULES.search(message) or (DOCUMENTS.search(case.operation.path) and OF_A_DOCUMENT.search(message)):
            return
    positive_data_acceptance(ctx, response, case)


# What an administrator ends and does not erase: it stays readable as cancelled, as disabled, as the history of a removed customer.
KEPT = re.compile(r"/admin/v1/(work-requests|accounts|customers)/\{\w+\}")


@schemathesis.check
def gone_once_deleted(ctx, response, case):
    if not KEPT.search(case.operation.path):
        use_after_free(ctx, response, case)
