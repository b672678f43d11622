-- Processes that send webhooks, and the leases of endpoints (jobs of the queue `arriendos`) that each holds for longer than a few
-- seconds. A process renews its one row; the leases live as long as that.
CREATE TABLE "webhook_bomba" (
    "id" UUID NOT NULL,
    "latido_en" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "webhook_bomba_pkey" PRIMARY KEY ("id")
);

CREATE TABLE "webhook_arriendo" (
    "trabajo" UUID NOT NULL,
    "intento" INTEGER NOT NULL,
    "bomba" UUID NOT NULL,

    CONSTRAINT "webhook_arriendo_pkey" PRIMARY KEY ("trabajo","intento")
);
CREATE INDEX "webhook_arriendo_bomba_idx" ON "webhook_arriendo"("bomba");

GRANT SELECT, INSERT, UPDATE, DELETE ON webhook_bomba, webhook_arriendo TO guias_operacion, guias_trabajos;
GRANT SELECT ON webhook_bomba, webhook_arriendo TO guias_lectura;
