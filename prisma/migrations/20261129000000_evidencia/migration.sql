-- The order of requests: first the table of a merchant's data, then the table of merchants.
LOCK TABLE "prueba_entrega", "comercio" IN ACCESS EXCLUSIVE MODE;

-- Evidence that deliveries of a merchant need. Existing merchants keep the optional signature. Merchants created from now
-- on need one, also if a process of the version before creates them.
ALTER TABLE "comercio" ADD COLUMN "evidencia_fotos" SMALLINT NOT NULL DEFAULT 1,
  ADD COLUMN "evidencia_firma" TEXT NOT NULL DEFAULT 'opcional',
  ADD COLUMN "evidencia_documento" TEXT NOT NULL DEFAULT 'opcional';
ALTER TABLE "comercio" ALTER COLUMN "evidencia_firma" SET DEFAULT 'obligatoria';

-- What a delivery was judged by, and why its receiver did not sign. Null in earlier deliveries.
ALTER TABLE "prueba_entrega" ADD COLUMN "evidencia" JSONB, ADD COLUMN "sin_firma" TEXT;
