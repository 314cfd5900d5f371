import os
import uuid

import ferry_client

configuration = ferry_client.Configuration(host=os.environ["FERRY_URL"])
configuration.access_token = os.environ["FERRY_TOKEN"]
with ferry_client.ApiClient(configuration) as client:
    transfers = ferry_client.TransfersApi(client)
    request = ferry_client.PlatformTransferRequest(
        from_profile_id=os.environ["FERRY_FROM"],
        to_profile_id=os.environ["FERRY_TO"],
        asset="USD",
        amount="1.5",
        ref_id=str(uuid.uuid4()),
    )
    made = transfers.create_platform_transfer(request)
    page = transfers.list_transfers(limit=10)
    listed = any(one.id == made.id for one in page.items)
    print(made.status, "listed" if listed else "missing")
