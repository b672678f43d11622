-- CreateTable
CREATE TABLE "comercio" (
    "id" UUID NOT NULL,
    "comercio" TEXT NOT NULL,
    "nombre" TEXT NOT NULL,
    "creado_en" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "comercio_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "operador" (
    "id" UUID NOT NULL,
    "operador" TEXT NOT NULL,
    "nombre" TEXT NOT NULL,
    "creado_en" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "operador_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "llave" (
    "id" TEXT NOT NULL,
    "tipo" TEXT NOT NULL,
    "comercio_id" UUID,
    "operador_id" UUID,
    "hash" BYTEA NOT NULL,
    "alcances" TEXT[],
    "creado_en" TIMESTAMPTZ(3) NOT NULL,
    "vence_en" TIMESTAMPTZ(3),
    "revocada_en" TIMESTAMPTZ(3),

    CONSTRAINT "llave_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "guia" (
    "comercio_id" UUID NOT NULL,
    "modo" TEXT NOT NULL,
    "id" UUID NOT NULL,
    "guia" TEXT NOT NULL,
    "external_ref" TEXT,
    "huellas" JSONB,
    "estado" TEXT NOT NULL,
    "estado_desde" TIMESTAMPTZ(3) NOT NULL,
    "telefono" TEXT NOT NULL,
    "destinatario" TEXT,
    "departamento" TEXT NOT NULL,
    "municipio" TEXT NOT NULL,
    "direccion" TEXT,
    "indicaciones" TEXT,
    "contenido" TEXT,
    "lat" DOUBLE PRECISION,
    "lng" DOUBLE PRECISION,
    "maps_url" TEXT,
    "recogida" JSONB NOT NULL,
    "ubicacion_estado" TEXT NOT NULL,
    "ubicacion_origen" TEXT,
    "ubicacion_lat" DOUBLE PRECISION,
    "ubicacion_lng" DOUBLE PRECISION,
    "intentos" INTEGER NOT NULL DEFAULT 0,
    "avisos" TEXT[],
    "secuencia" INTEGER NOT NULL,
    "creado_en" TIMESTAMPTZ(3) NOT NULL,
    "actualizado_en" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "guia_pkey" PRIMARY KEY ("comercio_id","modo","id")
);

-- CreateTable
CREATE TABLE "guia_indice" (
    "guia" TEXT NOT NULL,
    "comercio_id" UUID NOT NULL,
    "modo" TEXT NOT NULL,
    "id" UUID NOT NULL,

    CONSTRAINT "guia_indice_pkey" PRIMARY KEY ("guia")
);

-- CreateTable
CREATE TABLE "evento" (
    "comercio_id" UUID NOT NULL,
    "modo" TEXT NOT NULL,
    "guia_id" UUID NOT NULL,
    "secuencia" INTEGER NOT NULL,
    "guia" TEXT NOT NULL,
    "tipo" TEXT NOT NULL,
    "estado" TEXT NOT NULL,
    "estado_anterior" TEXT,
    "descripcion" TEXT,
    "motivo" TEXT,
    "lat" DOUBLE PRECISION,
    "lng" DOUBLE PRECISION,
    "datos" JSONB,
    "autor" TEXT,
    "idempotencia" TEXT,
    "huella" TEXT,
    "ocurrido_en" TIMESTAMPTZ(3) NOT NULL,
    "registrado_en" TIMESTAMPTZ(3) NOT NULL,
    "xid" xid8 NOT NULL DEFAULT pg_current_xact_id(),

    CONSTRAINT "evento_pkey" PRIMARY KEY ("comercio_id","modo","guia_id","secuencia")
);

-- CreateTable
CREATE TABLE "mensaje" (
    "comercio_id" UUID NOT NULL,
    "modo" TEXT NOT NULL,
    "guia_id" UUID NOT NULL,
    "numero" INTEGER NOT NULL,
    "id" UUID NOT NULL,
    "guia" TEXT NOT NULL,
    "canal" TEXT NOT NULL,
    "tipo" TEXT NOT NULL,
    "telefono" TEXT NOT NULL,
    "estado" TEXT NOT NULL,
    "creado_en" TIMESTAMPTZ(3) NOT NULL,
    "enviado_en" TIMESTAMPTZ(3),

    CONSTRAINT "mensaje_pkey" PRIMARY KEY ("comercio_id","modo","guia_id","numero")
);

-- CreateIndex
CREATE UNIQUE INDEX "comercio_comercio_key" ON "comercio"("comercio");

-- CreateIndex
CREATE UNIQUE INDEX "operador_operador_key" ON "operador"("operador");

-- CreateIndex
CREATE INDEX "llave_comercio_id_creado_en_idx" ON "llave"("comercio_id", "creado_en");

-- CreateIndex
CREATE INDEX "guia_comercio_id_modo_estado_id_idx" ON "guia"("comercio_id", "modo", "estado", "id");

-- CreateIndex
CREATE INDEX "guia_telefono_id_idx" ON "guia"("telefono", "id");

-- CreateIndex
CREATE INDEX "guia_id_idx" ON "guia"("id");

-- CreateIndex
CREATE UNIQUE INDEX "guia_comercio_id_modo_external_ref_key" ON "guia"("comercio_id", "modo", "external_ref");

-- CreateIndex
CREATE INDEX "evento_comercio_id_modo_xid_guia_id_secuencia_idx" ON "evento"("comercio_id", "modo", "xid", "guia_id", "secuencia");

-- CreateIndex
CREATE UNIQUE INDEX "mensaje_id_key" ON "mensaje"("id");

-- CreateIndex
CREATE INDEX "mensaje_estado_creado_en_idx" ON "mensaje"("estado", "creado_en");

-- AddForeignKey
ALTER TABLE "llave" ADD CONSTRAINT "llave_comercio_id_fkey" FOREIGN KEY ("comercio_id") REFERENCES "comercio"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "llave" ADD CONSTRAINT "llave_operador_id_fkey" FOREIGN KEY ("operador_id") REFERENCES "operador"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "guia" ADD CONSTRAINT "guia_comercio_id_fkey" FOREIGN KEY ("comercio_id") REFERENCES "comercio"("id") ON DELETE RESTRICT ON UPDATE CASCADE;
