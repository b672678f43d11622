-- Server and timeline in which the order of events was last continued (server/data/order.ts); null until the first start. A
-- start on another one knows that the last transactions may be missing.
CREATE FUNCTION flujo_servidor() RETURNS text STABLE PARALLEL SAFE LANGUAGE sql RETURN null::text;
