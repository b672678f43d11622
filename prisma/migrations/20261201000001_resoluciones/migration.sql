-- The order of requests: first the table of a merchant's data, then the table of merchants.
LOCK TABLE "guia", "comercio" IN ACCESS EXCLUSIVE MODE;

-- What is decided after a failed attempt, and when the merchant's policy decides.
ALTER TABLE "guia" ADD COLUMN "resolucion" JSONB, ADD COLUMN "resolucion_vence" TIMESTAMPTZ(3);

-- What follows after a failed attempt. Parcels of existing merchants do not return by themselves. Those of merchants
-- created from now on do, also if a process of the version before creates them.
ALTER TABLE "comercio" ADD COLUMN "intentos_maximos" SMALLINT NOT NULL DEFAULT 3,
  ADD COLUMN "intentos_dias_entre" SMALLINT NOT NULL DEFAULT 1,
  ADD COLUMN "intentos_dias_para_decidir" SMALLINT NOT NULL DEFAULT 5,
  ADD COLUMN "intentos_al_vencer" TEXT NOT NULL DEFAULT 'esperar';
ALTER TABLE "comercio" ALTER COLUMN "intentos_al_vencer" SET DEFAULT 'devolver';
