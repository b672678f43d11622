-- What one person asks for and another decides. It belongs to no merchant.
CREATE TABLE "aprobacion" (
    "id" UUID NOT NULL,
    "aprobacion" TEXT NOT NULL,
    "tipo" TEXT NOT NULL,
    "contenido" BYTEA,
    "estado" TEXT NOT NULL,
    "pide" TEXT NOT NULL,
    "decide" TEXT,
    "razon" TEXT,
    "creado_en" TIMESTAMPTZ(3) NOT NULL,
    "vence_en" TIMESTAMPTZ(3) NOT NULL,
    "decidido_en" TIMESTAMPTZ(3),

    CONSTRAINT "aprobacion_pkey" PRIMARY KEY ("id")
);
CREATE UNIQUE INDEX "aprobacion_aprobacion_key" ON "aprobacion"("aprobacion");
CREATE INDEX "aprobacion_vence_en_idx" ON "aprobacion"("vence_en");

GRANT SELECT, INSERT, UPDATE, DELETE ON aprobacion TO guias_operacion, guias_trabajos;
