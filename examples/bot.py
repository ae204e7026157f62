"""A whole client: sits down at a table and plays a random legal move whenever it is its turn.

python examples/bot.py ws://127.0.0.1:8750 koi-koi          host a room against an AI
python examples/bot.py ws://127.0.0.1:8750 --join K7M2QX    take a seat in a room
"""

import itertools
import json
import random
import secrets
import sys

from websockets.sync.client import connect

url, *where = sys.argv[1:]
session, counter = secrets.token_urlsafe(12), itertools.count(1)

with connect(url, subprotocols=["fudaza.1"]) as hall:

    def send(command: str, **fields: str | int) -> None:
        hall.send(json.dumps({"t": command, "id": f"{session}.{next(counter)}", **fields}))

    if where[0] == "--join":
        send("join", code=where[1], name="bot")
    else:
        send("create", game=where[0], name="bot")
        send("start")
    for frame in hall:
        match json.loads(frame):
            case {"t": "turn", "legal": legal, "at": at}:
                send("act", action=random.choice(legal), at=at)
            case {"t": "events", "events": events}:
                for event in events:
                    print(json.dumps(event))
                    if event["e"] == "match-opened":
                        send("contribute", value=secrets.token_hex(32))
                    if event["e"] == "deal-ended":
                        send("ready")
                    if event["e"] == "match-ended":
                        sys.exit()
            case {"t": "refused", "code": code, "params": params}:
                print(f"refused: {code} {params}", file=sys.stderr)
