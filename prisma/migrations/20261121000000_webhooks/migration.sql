-- What of a guide changes, kept with each event, so that what a webhook sends can be made again. Events written before
-- have what their guide is now: nobody was sent them.
ALTER TABLE "evento" ADD COLUMN "foto" JSONB;
UPDATE "evento" e SET "foto" = jsonb_build_object(
    'intentos', g."intentos", 'avisos', g."avisos", 'ubicacion_estado', g."ubicacion_estado",
    'ubicacion_origen', g."ubicacion_origen", 'ubicacion_lat', g."ubicacion_lat", 'ubicacion_lng', g."ubicacion_lng")
  FROM "guia" g WHERE g."comercio_id" = e."comercio_id" AND g."modo" = e."modo" AND g."id" = e."guia_id";
ALTER TABLE "evento" ALTER COLUMN "foto" SET NOT NULL;

-- CreateTable
CREATE TABLE "webhook" (
    "comercio_id" UUID NOT NULL,
    "modo" TEXT NOT NULL,
    "webhook" TEXT NOT NULL,
    "url" TEXT,
    "tipos" TEXT[],
    "descripcion" TEXT,
    "estado" TEXT NOT NULL,
    "motivo" TEXT,
    "desde" TIMESTAMPTZ(3) NOT NULL,
    "fallas" INTEGER NOT NULL DEFAULT 0,
    "primera_falla_en" TIMESTAMPTZ(3),
    "aviso" INTEGER NOT NULL DEFAULT 0,
    "freno_hasta" TIMESTAMPTZ(3),
    "creado_en" TIMESTAMPTZ(3) NOT NULL,
    "actualizado_en" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "webhook_pkey" PRIMARY KEY ("comercio_id","modo","webhook")
);

-- CreateTable
CREATE TABLE "webhook_secreto" (
    "comercio_id" UUID NOT NULL,
    "modo" TEXT NOT NULL,
    "webhook" TEXT NOT NULL,
    "version" INTEGER NOT NULL,
    "cifrado" BYTEA NOT NULL,
    "creado_en" TIMESTAMPTZ(3) NOT NULL,
    "expira_en" TIMESTAMPTZ(3),

    CONSTRAINT "webhook_secreto_pkey" PRIMARY KEY ("comercio_id","modo","webhook","version")
);

-- CreateTable
CREATE TABLE "entrega" (
    "comercio_id" UUID NOT NULL,
    "modo" TEXT NOT NULL,
    "webhook" TEXT NOT NULL,
    "guia_id" UUID NOT NULL,
    "secuencia" INTEGER NOT NULL,
    "evento" TEXT NOT NULL,
    "tipo" TEXT NOT NULL,
    "estado" TEXT NOT NULL,
    "causa" TEXT NOT NULL,
    "turno" INTEGER NOT NULL DEFAULT 0,
    "intento" INTEGER NOT NULL DEFAULT 0,
    "intentos" INTEGER NOT NULL DEFAULT 0,
    "proximo_en" TIMESTAMPTZ(3) NOT NULL,
    "ultimo_status" INTEGER,
    "ultimo_error" TEXT,
    "datos" JSONB,
    "creado_en" TIMESTAMPTZ(3) NOT NULL,
    "terminada_en" TIMESTAMPTZ(3),

    CONSTRAINT "entrega_pkey" PRIMARY KEY ("comercio_id","modo","webhook","guia_id","secuencia")
);

-- CreateTable
CREATE TABLE "entrega_intento" (
    "comercio_id" UUID NOT NULL,
    "modo" TEXT NOT NULL,
    "webhook" TEXT NOT NULL,
    "guia_id" UUID NOT NULL,
    "secuencia" INTEGER NOT NULL,
    "id" UUID NOT NULL,
    "numero" INTEGER NOT NULL,
    "tardio" BOOLEAN NOT NULL,
    "causa" TEXT NOT NULL,
    "iniciado_en" TIMESTAMPTZ(3) NOT NULL,
    "url" TEXT NOT NULL,
    "ip" TEXT,
    "secretos" INTEGER[],
    "status" INTEGER,
    "error" TEXT,
    "detalle" TEXT,
    "dns_ms" REAL,
    "conexion_ms" REAL,
    "tls_ms" REAL,
    "primer_byte_ms" REAL,
    "total_ms" REAL NOT NULL,
    "cabeceras" JSONB,
    "cuerpo" TEXT,
    "cuerpo_truncado" BOOLEAN NOT NULL,

    CONSTRAINT "entrega_intento_pkey" PRIMARY KEY ("comercio_id","modo","webhook","guia_id","secuencia","id")
);

-- CreateTable
CREATE TABLE "recuperacion" (
    "comercio_id" UUID NOT NULL,
    "modo" TEXT NOT NULL,
    "webhook" TEXT NOT NULL,
    "recuperacion" TEXT NOT NULL,
    "paso" UUID NOT NULL,
    "desde" TIMESTAMPTZ(3) NOT NULL,
    "hasta" TIMESTAMPTZ(3) NOT NULL,
    "todas" BOOLEAN NOT NULL,
    "posicion" JSONB NOT NULL,
    "eventos" INTEGER NOT NULL DEFAULT 0,
    "entregas" INTEGER NOT NULL DEFAULT 0,
    "estado" TEXT NOT NULL,
    "creado_en" TIMESTAMPTZ(3) NOT NULL,
    "terminada_en" TIMESTAMPTZ(3),

    CONSTRAINT "recuperacion_pkey" PRIMARY KEY ("comercio_id","modo","webhook","recuperacion")
);

-- CreateIndex
CREATE UNIQUE INDEX "webhook_comercio_id_modo_url_key" ON "webhook"("comercio_id", "modo", "url");

-- CreateIndex
CREATE INDEX "entrega_comercio_id_modo_webhook_creado_en_guia_id_secuenci_idx" ON "entrega"("comercio_id", "modo", "webhook", "creado_en", "guia_id", "secuencia");

-- CreateIndex
CREATE INDEX "entrega_pendiente_idx" ON "entrega"("comercio_id", "modo", "webhook", "proximo_en") WHERE (estado = 'pendiente'::text);

-- CreateIndex
CREATE INDEX "entrega_fallida_idx" ON "entrega"("comercio_id", "modo", "webhook", "creado_en", "guia_id", "secuencia") WHERE (estado = 'fallida'::text);

-- CreateIndex
CREATE UNIQUE INDEX "recuperacion_paso_key" ON "recuperacion"("paso");

-- CreateIndex
CREATE UNIQUE INDEX "recuperacion_en_curso_key" ON "recuperacion"("comercio_id", "modo", "webhook") WHERE (estado = 'en_curso'::text);

-- CreateIndex
CREATE INDEX "recuperacion_estado_creado_en_idx" ON "recuperacion"("estado", "creado_en");

-- AddForeignKey
ALTER TABLE "webhook" ADD CONSTRAINT "webhook_comercio_id_fkey" FOREIGN KEY ("comercio_id") REFERENCES "comercio"("id") ON DELETE RESTRICT ON UPDATE CASCADE;
