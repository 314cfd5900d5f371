"""An adapter for Ferry's HTTP rail: copy it, and replace `pay` by calls of your bank. Standard library only.

  export ADAPTER_SECRET="whsec_$(openssl rand -base64 32)"   # the same secret as in Ferry's configuration
  export FERRY_URL=http://127.0.0.1:8080
  python3 adapter.py                                         # serves until it is stopped
  python3 adapter.py notify '{"type": "deposit", …}'         # reports something to Ferry
"""

import base64, hashlib, hmac, json, os, sys, threading, time, urllib.error, urllib.request, uuid
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

SECRET = base64.b64decode(os.environ["ADAPTER_SECRET"].removeprefix("whsec_"))
RAIL = os.environ.get("ADAPTER_RAIL", "wire")
ASSETS = os.environ.get("ADAPTER_ASSETS", "USD").split(",")
FILE = os.environ.get("ADAPTER_FILE", "payments.jsonl")
PORT = int(os.environ.get("PORT", "9000"))
DELAY = float(os.environ.get("ADAPTER_DELAY_S", "1"))
FERRY_URL = os.environ.get("FERRY_URL", "")
INSTRUCTIONS = {"account_number": "000987654321", "routing_details": {
    "routing_number_type": "ABA", "routing_number": "021000021", "bank_name": "Example Bank",
    "bank_address": {"country": "US", "city": "New York"}}, "fiat_account_owner_address": {"country": "US", "city": "New York"}}

lock = threading.Lock()
payments = {}  # key -> order, reference, status, reason or detail; in the file, a line for every change


def load():
    if not os.path.exists(FILE):
        return
    with open(FILE, "r+b") as file:
        whole = file.read().rpartition(b"\n")[0]
        for line in whole.splitlines():
            change = json.loads(line)
            payments.setdefault(change.pop("key"), {}).update(change)
        # A line that was cut off by a crash was never answered: it is as if the request had not arrived.
        file.truncate(len(whole) + 1 if whole else 0)


def record(key, **change):
    """On disk before the request is answered. The caller holds the lock."""
    with open(FILE, "a") as file:
        file.write(json.dumps({"key": key, **change}) + "\n")
        file.flush()
        os.fsync(file.fileno())
    payments[key] = {**payments.get(key, {}), **change}


def accept(key, order):
    """Takes a payment once. Returns a status and an answer."""
    if order.get("key") != key or order.get("rail") != RAIL:
        return 400, {"outcome": "conflict", "detail": f"The body must have the key of the path, and the rail {RAIL}."}
    with lock:
        known = payments.get(key)
        if known is None:
            payable = order["asset"] in ASSETS
            end = {"status": "pending"} if payable else {"status": "failed", "reason": f"{order['asset']} cannot be paid."}
            record(key, order=order, reference=str(uuid.uuid4()), **end)
            if payable:
                threading.Thread(target=pay, args=(key,), daemon=True).start()
        elif known["order"] != order:
            return 409, {"outcome": "conflict", "detail": "The key has another payment."}
        return 200, present(key)


def present(key):
    payment = payments[key]
    shown = {name: payment[name] for name in ("status", "reference", "reason", "detail") if name in payment}
    return {"key": key, "asset": payment["order"]["asset"], "amount": payment["order"]["amount"], "next_ask_ms": 500, **shown}


def pay(key):
    """Call your bank here, with `reference` as its idempotency key. This may run again after a crash."""
    time.sleep(DELAY)
    with lock:
        record(key, status="completed", detail="Paid by Example Bank.")
    if FERRY_URL:
        notify({"type": "payment", "key": key, "status": "completed", "detail": "Paid by Example Bank."})


def sign(id, timestamp, payload):  # https://www.standardwebhooks.com
    digest = hmac.new(SECRET, f"{id}.{timestamp}.".encode() + payload, hashlib.sha256).digest()
    return "v1," + base64.b64encode(digest).decode()


def is_signed(headers, payload):
    id, timestamp, given = (headers.get("webhook-" + name, "") for name in ("id", "timestamp", "signature"))
    if not timestamp.isdigit() or abs(time.time() - int(timestamp)) > 300:
        return False
    expected = sign(id, timestamp, payload)
    return any(hmac.compare_digest(expected.encode(), one.encode()) for one in given.split(" "))


def notify(*notices):
    """Reports to Ferry until Ferry has recorded it. The same notice twice has one effect."""
    body = json.dumps({"rail": RAIL, "notices": notices}).encode()
    while True:
        id, timestamp = "msg_" + uuid.uuid4().hex, str(int(time.time()))
        headers = {"content-type": "application/json", "webhook-id": id, "webhook-timestamp": timestamp,
                   "webhook-signature": sign(id, timestamp, body)}
        try:
            request = urllib.request.Request(f"{FERRY_URL}/v2/rails/{RAIL}/notices", body, headers, method="POST")
            with urllib.request.urlopen(request, timeout=30) as answer:
                return answer.read().decode()
        except urllib.error.HTTPError as error:
            if error.code < 500 and error.code != 429:  # Ferry says what is wrong: repeating it does not help.
                return error.read().decode()
        except OSError:  # Ferry cannot be reached.
            pass
        time.sleep(1)


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def answer(self):
        body = self.rfile.read(int(self.headers.get("content-length", 0)))
        if not is_signed(self.headers, body or f"{self.command} {self.path}".encode()):
            return 401, {"outcome": "unauthenticated", "detail": "The signature or its timestamp is not valid."}
        _, first, *rest = self.path.split("/")
        if first == "payments" and self.command == "PUT":
            return accept(rest[0], json.loads(body))
        if first == "payments":
            return (200, present(rest[0])) if rest[0] in payments else (404, {"outcome": "not_found"})
        found = {"health": {"status": "ok"}, "deposit-instructions": INSTRUCTIONS}.get(first)
        return (200, found) if found else (404, {"detail": "There is no such path."})

    def do_GET(self):
        status, content = self.answer()
        body = json.dumps(content).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    do_PUT = do_POST = do_GET

    def log_message(self, *_): ...


if sys.argv[1:2] == ["notify"]:
    print(notify(json.loads(sys.argv[2])))
else:
    load()
    for key in [key for key, payment in payments.items() if payment["status"] == "pending"]:
        threading.Thread(target=pay, args=(key,), daemon=True).start()
    ThreadingHTTPServer(("127.0.0.1", PORT), Handler).serve_forever()
