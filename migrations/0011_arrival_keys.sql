-- One transaction may pay several assets to one address: where the address tells its outputs apart, the asset does, too.
-- Those that arrived before are known by the new key, or they could arrive again.
update idempotency_keys
set ref_id = ref_id || ':' || (request::jsonb ->> 'asset')
where customer_id = '00000000-0000-0000-0000-000000000000'
  and space in ('arrivals:ETHEREUM', 'arrivals:SOLANA', 'arrivals:POLYGON_POS', 'arrivals:BASE', 'arrivals:ARBITRUM_ONE',
                'arrivals:INK', 'arrivals:BITCOIN', 'arrivals:BITCOIN_CASH', 'arrivals:LITECOIN')
  and ref_id !~ ':[0-9]+$';
