-- DropIndex
DROP INDEX "mensaje_estado_creado_en_idx";

-- AlterTable
ALTER TABLE "guia" ADD COLUMN     "ubicacion_extra" JSONB;

-- AlterTable
ALTER TABLE "mensaje" ADD COLUMN     "abierta" BOOLEAN NOT NULL DEFAULT true,
ADD COLUMN     "codigo" TEXT,
ADD COLUMN     "entregado_en" TIMESTAMPTZ(3),
ADD COLUMN     "intentos" INTEGER NOT NULL DEFAULT 0,
ADD COLUMN     "kid" TEXT,
ADD COLUMN     "leido_en" TIMESTAMPTZ(3),
ADD COLUMN     "motivo" TEXT,
ADD COLUMN     "proveedor_id" TEXT,
ADD COLUMN     "proximo_en" TIMESTAMPTZ(3),
ADD COLUMN     "vence_en" TIMESTAMPTZ(3),
ALTER COLUMN "telefono" DROP NOT NULL;

-- What was written before was due when it was written, and says nothing of its request.
UPDATE "mensaje" SET "proximo_en" = "creado_en";
ALTER TABLE "mensaje" ALTER COLUMN "proximo_en" SET NOT NULL;
UPDATE "evento" SET "foto" = "foto" || '{"ubicacion_extra": null}';

-- CreateTable
CREATE TABLE "enlace_ubicacion" (
    "huella" BYTEA NOT NULL,
    "comercio_id" UUID NOT NULL,
    "modo" TEXT NOT NULL,
    "guia_id" UUID NOT NULL,
    "numero" INTEGER NOT NULL,
    "vence_en" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "enlace_ubicacion_pkey" PRIMARY KEY ("huella")
);

-- CreateTable
CREATE TABLE "entrante" (
    "id" UUID NOT NULL,
    "huella" BYTEA NOT NULL,
    "cuerpo" TEXT NOT NULL,
    "recibido_en" TIMESTAMPTZ(3) NOT NULL,
    "hecho_en" TIMESTAMPTZ(3),

    CONSTRAINT "entrante_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "enlace_corto" (
    "comercio_id" UUID NOT NULL,
    "modo" TEXT NOT NULL,
    "guia_id" UUID NOT NULL,
    "id" UUID NOT NULL,
    "maps_url" TEXT NOT NULL,
    "intentos" INTEGER NOT NULL DEFAULT 0,
    "proximo_en" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "enlace_corto_pkey" PRIMARY KEY ("comercio_id","modo","guia_id")
);

-- CreateIndex
CREATE INDEX "enlace_ubicacion_vence_en_idx" ON "enlace_ubicacion"("vence_en");

-- CreateIndex
CREATE UNIQUE INDEX "entrante_huella_key" ON "entrante"("huella");

-- CreateIndex
CREATE INDEX "entrante_pendiente_idx" ON "entrante"("recibido_en") WHERE (hecho_en IS NULL);

-- CreateIndex
CREATE UNIQUE INDEX "enlace_corto_id_key" ON "enlace_corto"("id");

-- CreateIndex
CREATE INDEX "enlace_corto_proximo_en_idx" ON "enlace_corto"("proximo_en");

-- CreateIndex
CREATE INDEX "mensaje_pendiente_idx" ON "mensaje"("proximo_en") WHERE (estado = ANY (ARRAY['pendiente'::text, 'enviando'::text]));

-- CreateIndex
CREATE INDEX "mensaje_abierto_idx" ON "mensaje"("vence_en") WHERE (abierta);

-- CreateIndex
CREATE INDEX "mensaje_telefono_creado_en_idx" ON "mensaje"("telefono", "creado_en");

-- CreateIndex
CREATE INDEX "mensaje_proveedor_id_idx" ON "mensaje"("proveedor_id");
