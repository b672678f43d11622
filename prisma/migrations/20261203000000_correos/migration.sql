-- Mails to persons: an outbox. A row is written in the transaction of its cause, and sent by the queue `correos`.
CREATE TABLE "correo" (
    "id" UUID NOT NULL,
    "huella" BYTEA NOT NULL,
    "tipo" TEXT NOT NULL,
    "contenido" BYTEA,
    "canal" TEXT,
    "estado" TEXT NOT NULL,
    "intentos" INTEGER NOT NULL,
    "codigo" TEXT,
    "creado_en" TIMESTAMPTZ(3) NOT NULL,
    "proximo_en" TIMESTAMPTZ(3) NOT NULL,
    "vence_en" TIMESTAMPTZ(3) NOT NULL,
    "enviado_en" TIMESTAMPTZ(3),

    CONSTRAINT "correo_pkey" PRIMARY KEY ("id")
);
CREATE INDEX "correo_pendiente_idx" ON "correo"("proximo_en") WHERE (estado = ANY (ARRAY['pendiente'::text, 'enviando'::text]));
CREATE INDEX "correo_huella_creado_en_idx" ON "correo"("huella", "creado_en");
CREATE INDEX "correo_creado_en_idx" ON "correo"("creado_en");

GRANT SELECT, INSERT, UPDATE, DELETE ON correo TO guias_operacion, guias_trabajos;
