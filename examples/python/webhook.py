#!/usr/bin/env python3
"""Receives webhooks, and prints what those say that edgeward has sent.

usage: EDGEWARD_WEBHOOK_SECRET=whsec_… python3 webhook.py PORT
"""
import base64
import hmac
import json
import os
import sys
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


def verify(secret, headers, body):
    """Whether edgeward has sent this within the last five minutes. `body`: the bytes as they came."""
    message_id, timestamp = headers.get("webhook-id", ""), headers.get("webhook-timestamp", "")
    if not timestamp.isdecimal() or abs(time.time() - int(timestamp)) > 300:
        return False
    key = base64.b64decode(secret.removeprefix("whsec_"))
    signed = f"{message_id}.{timestamp}.".encode() + body
    wanted = b"v1," + base64.b64encode(hmac.digest(key, signed, "sha256"))
    # While a secret is being replaced there is a signature with each, and one that matches is enough.
    signatures = headers.get("webhook-signature", "").encode().split()
    return any(hmac.compare_digest(wanted, each) for each in signatures)


class Receiver(BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        is_genuine = verify(os.environ["EDGEWARD_WEBHOOK_SECRET"], self.headers, body)
        if is_genuine:
            # The same can come twice: what you do about it must do no harm then.
            told = json.loads(body)
            print(f"{told['event']}: {told['prefix_list_name']} in {told['region']}: {told['status']}", flush=True)
        self.send_response(204 if is_genuine else 400)
        self.end_headers()


ThreadingHTTPServer(("", int(sys.argv[1])), Receiver).serve_forever()
