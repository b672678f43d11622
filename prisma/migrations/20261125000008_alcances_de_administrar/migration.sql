-- From this version on a key with `administrar` grants only scopes that it has. Each such key in force gains the scopes that
-- its operator's keys in force hold together, so that operators go on as before. Each change has its line in the audit record.
WITH "en_vigor" AS (
  SELECT l."id", l."operador_id", l."alcances"
  FROM "llave" l JOIN "operador" o ON o."id" = l."operador_id"
  WHERE l."tipo" = 'oper' AND l."revocado_en" IS NULL AND o."revocado_en" IS NULL
    AND (l."vence_en" IS NULL OR l."vence_en" > now())
), "ampliadas" AS (
  SELECT a."id", a."alcances" AS "antes", a."alcances" || ARRAY(
    SELECT t."alcance" FROM unnest(ARRAY['ver', 'operar', 'caja', 'administrar']) WITH ORDINALITY AS t("alcance", "orden")
    WHERE t."alcance" <> ALL (a."alcances") AND EXISTS (
      SELECT FROM "en_vigor" v WHERE v."operador_id" = a."operador_id" AND t."alcance" = ANY (v."alcances"))
    ORDER BY t."orden") AS "despues"
  FROM "en_vigor" a WHERE 'administrar' = ANY (a."alcances")
), "cambiadas" AS (
  UPDATE "llave" l SET "alcances" = a."despues" FROM "ampliadas" a
  WHERE l."id" = a."id" AND a."despues" <> a."antes"
  RETURNING l."id", a."antes", a."despues"
)
INSERT INTO "bitacora" ("id", "linea", "accion", "quien_tipo", "sobre_tipo", "sobre", "campos", "antes", "despues", "creado_en")
SELECT
  -- A UUIDv7 of this instant, as the service makes them: the record is listed by it.
  encode(set_bit(set_bit(overlay(uuid_send(gen_random_uuid())
    PLACING substring(int8send(floor(extract(epoch FROM now()) * 1000)::bigint) FROM 3) FROM 1 FOR 6), 52, 1), 53, 1), 'hex')::uuid,
  'bit_' || (SELECT string_agg(substr('0123456789ABCDEFGHJKMNPQRSTVWXYZ', 1 + floor(random() * 32)::int, 1), '')
    FROM generate_series(1, 12) WHERE c."id" IS NOT NULL),
  'ampliarAlcances', 'trabajo', 'llave', 'llave_' || c."id", ARRAY['alcances'],
  jsonb_build_object('alcances', c."antes"), jsonb_build_object('alcances', c."despues"), date_trunc('milliseconds', now())
FROM "cambiadas" c;
