import os
import uuid

from ferry_client import AuthenticatedClient
from ferry_client.api.transfers import create_platform_transfer, list_transfers
from ferry_client.models import PlatformTransferRequest

client = AuthenticatedClient(base_url=os.environ["FERRY_URL"], token=os.environ["FERRY_TOKEN"])
request = PlatformTransferRequest(
    from_profile_id=uuid.UUID(os.environ["FERRY_FROM"]),
    to_profile_id=uuid.UUID(os.environ["FERRY_TO"]),
    asset="USD",
    amount="1.5",
    ref_id=str(uuid.uuid4()),
)
made = create_platform_transfer.sync(client=client, body=request)
page = list_transfers.sync(client=client, limit=10)
listed = any(one.id == made.id for one in page.items)
print(made.status, "listed" if listed else "missing")
