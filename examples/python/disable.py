#!/usr/bin/env python3
"""Takes an address out of service for four hours, and waits until all routers have it.

usage: EDGEWARD_URL=https://edgeward.example.net EDGEWARD_TOKEN=edw_… python3 disable.py ADDRESS
"""
import json
import os
import sys
import time
import urllib.error
import urllib.request

BASE = os.environ["EDGEWARD_URL"] + "/api/v1"
HEADERS = {"Authorization": "Bearer " + os.environ["EDGEWARD_TOKEN"], "Content-Type": "application/json"}


def ask(method, path, body=None):
    """What the API answers. After 429 and 503 it is asked again when the server says so: the same call twice changes nothing."""
    data = None if body is None else json.dumps(body).encode()
    while True:
        request = urllib.request.Request(BASE + path, data, HEADERS, method=method)
        try:
            with urllib.request.urlopen(request, timeout=90) as answer:
                # Python's integers are exact, also those of a /64.
                return json.load(answer)
        except urllib.error.HTTPError as error:
            if error.code not in (429, 503):
                sys.exit(f"{error.code}: {json.load(error)['message']}")
            time.sleep(int(error.headers.get("Retry-After", 5)))


def wait_until_deployed(subnet_id):
    """Each question waits at the server for up to half a minute, so that two requests a minute are spent."""
    while ask("GET", f"/subnets/{subnet_id}/pending?view=ranges&wait=PT30S")["meta"]["pending_changes"] > 0:
        pass


address = sys.argv[1]
changed = ask("POST", "/ips/disable", {"ip": address, "until": "PT4H", "reason": "under attack", "ticket": "NET-4711"})
print(f"{changed['data']['address']} is {changed['data']['status']}")
for subnet in ask("GET", "/subnets")["data"]:
    counts = subnet["ip_counts"]
    print(f"{subnet['cidr']}: {counts['disabled']} of {counts['total']} disabled")
    if counts["pending"] > 0:
        wait_until_deployed(subnet["id"])
print("all routers have it")
