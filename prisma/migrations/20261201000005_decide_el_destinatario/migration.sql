-- The order of requests: first the table of a merchant's data, then the table of merchants.
LOCK TABLE "mensaje", "comercio" IN ACCESS EXCLUSIVE MODE;

-- Event that opened the decision for which a message asks. Null in all other messages.
ALTER TABLE "mensaje" ADD COLUMN "resolucion_secuencia" INTEGER;

-- True if the recipients of a merchant may decide, too. Nobody asks them until an operator says so.
ALTER TABLE "comercio" ADD COLUMN "intentos_destinatario_decide" BOOLEAN NOT NULL DEFAULT false;
