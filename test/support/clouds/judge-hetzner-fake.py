"""Runs Hetzner's official Python client against the fake, unchanged: what it takes for Hetzner Cloud is Hetzner Cloud enough."""

import sys

from hcloud import APIException, Client
from hcloud.images import Image
from hcloud.server_types import ServerType

url, token = sys.argv[1:]
client = Client(token=token, api_endpoint=url, poll_interval=0.01)


def create(name, **more):
    return client.servers.create(
        name=name, server_type=ServerType(name="cx32"), image=Image(name="debian-13"), **more
    )


made = create("judge-1", labels={"edgeward/run": "r"}, user_data="#cloud-config\n")
made.action.wait_until_finished()
for action in made.next_actions:
    action.wait_until_finished()
server = client.servers.get_by_id(made.server.id)
assert server.status == "running", server.status
assert server.labels == {"edgeward/run": "r"}, server.labels
assert client.servers.get_by_name("judge-1").id == server.id

try:
    create("judge-1")
    raise SystemExit("two servers of one name")
except APIException as refused:
    assert refused.code == "uniqueness_error", refused.code

for number in range(60):
    create(f"many-{number}", labels={"many": "yes"})
assert len(client.servers.get_all(label_selector="many=yes")) == 60

client.servers.delete(server).wait_until_finished()
try:
    client.servers.get_by_id(server.id)
    raise SystemExit("a deleted server is still there")
except APIException as refused:
    assert refused.code == "not_found", refused.code

try:
    Client(token="wrong", api_endpoint=url).servers.get_all()
    raise SystemExit("a wrong token is taken")
except APIException as refused:
    assert refused.code == "unauthorized", refused.code

print("the fake is Hetzner Cloud to hcloud")
