"""Uses baton through python3-redis: python_redis.py SOCKET SOCKET. Fails if something is wrong."""
import json
import sys

import redis

here, there = (redis.Redis(unix_socket_path=path, decode_responses=True, single_connection_client=True)
               for path in sys.argv[1:3])
listener = redis.Redis(unix_socket_path=sys.argv[2], decode_responses=True).pubsub()


def event():
    while True:
        message = listener.get_message(timeout=60)
        if message is not None and message["type"] in ("message", "pmessage"):
            return message["type"], message["pattern"], message["channel"], message["data"]


assert here.ping() is True
listener.subscribe("python")
listener.psubscribe("pyth*")
while listener.get_message(timeout=60)["data"] != 2:
    pass
fence = here.execute_command("LOCK", "python")
assert fence > 0
told = f"granted {fence} n1"
assert {event(), event()} == {("message", None, "python", told), ("pmessage", "pyth*", "python", told)}
assert there.execute_command("LOCK", "python", "NOWAIT") is None
assert here.execute_command("UNLOCK", "python", fence) == 1
assert there.execute_command("LOCK", "python") == fence + 1
try:
    there.execute_command("LOCK", "python")
    raise AssertionError("a lock was taken twice")
except redis.ResponseError as error:
    assert "holds the lock already" in str(error), error
assert there.execute_command("UNLOCK", "python") == 1
pipeline = there.pipeline(transaction=False)  # this is another connection, so it is another session
for words in (("LOCK", "python"), ("UNLOCK", "python"), ("UNLOCK", "python")):
    pipeline.execute_command(*words)
assert pipeline.execute() == [fence + 2, 1, 0]
assert json.loads(here.execute_command("STATUS"))["locks"] == []
fence = here.execute_command("ELECT", "boss", "me")
assert there.execute_command("LEADER", "boss") == [fence, "n1", "me"]
try:
    with there.pipeline(transaction=True) as pipeline:
        pipeline.execute_command("LOCK", "python-multi")
        pipeline.execute_command("LOCK", "python-multi-2")
        pipeline.execute()
    raise AssertionError("a transaction was done")
except redis.ResponseError as error:
    assert "there are no transactions" in str(error), error
assert json.loads(here.execute_command("STATUS", "python-multi*"))["locks"] == []
assert here.echo("hello") == "hello"
assert here.client_setname("me") and here.client_getname() == "me"
assert here.client_info()["name"] == "me"
assert here.command_count() == len(here.command())
try:
    redis.Redis(unix_socket_path=sys.argv[1], password="secret").ping()
    raise AssertionError("a password was taken")
except redis.RedisError as error:
    assert "there are no passwords" in str(error), error
listener.unsubscribe()
listener.close()
