-- CreateTable
CREATE TABLE "archivo_indice" (
    "archivo" TEXT NOT NULL,
    "comercio_id" UUID NOT NULL,
    "modo" TEXT NOT NULL,
    "guia_id" UUID NOT NULL,
    "estado" TEXT NOT NULL,
    "creado_en" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "archivo_indice_pkey" PRIMARY KEY ("archivo")
);

-- CreateTable
CREATE TABLE "archivo" (
    "comercio_id" UUID NOT NULL,
    "modo" TEXT NOT NULL,
    "guia_id" UUID NOT NULL,
    "archivo" TEXT NOT NULL,
    "tipo" TEXT NOT NULL,
    "mime" TEXT NOT NULL,
    "bytes" INTEGER NOT NULL,
    "ancho" INTEGER,
    "alto" INTEGER,
    "sha256" BYTEA NOT NULL,
    "capturado_en" TIMESTAMPTZ(3),
    "lat" DOUBLE PRECISION,
    "lng" DOUBLE PRECISION,
    "autor" TEXT,
    "usado_en" TIMESTAMPTZ(3),
    "creado_en" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "archivo_pkey" PRIMARY KEY ("comercio_id","modo","guia_id","archivo")
);

-- CreateTable
CREATE TABLE "prueba_entrega" (
    "comercio_id" UUID NOT NULL,
    "modo" TEXT NOT NULL,
    "guia_id" UUID NOT NULL,
    "id" UUID NOT NULL,
    "secuencia" INTEGER NOT NULL,
    "recibido_por" JSONB NOT NULL,
    "lat" DOUBLE PRECISION,
    "lng" DOUBLE PRECISION,
    "precision_m" DOUBLE PRECISION,
    "distancia_m" INTEGER,
    "fotos" TEXT[],
    "firma" TEXT,
    "pdf" TEXT,
    "manifiesto" TEXT,
    "sal" TEXT,
    "intentos" INTEGER NOT NULL DEFAULT 0,
    "proximo_en" TIMESTAMPTZ(3) NOT NULL,
    "entregado_en" TIMESTAMPTZ(3) NOT NULL,
    "registrado_en" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "prueba_entrega_pkey" PRIMARY KEY ("comercio_id","modo","guia_id")
);

-- CreateTable
CREATE TABLE "prueba_intento" (
    "comercio_id" UUID NOT NULL,
    "modo" TEXT NOT NULL,
    "guia_id" UUID NOT NULL,
    "secuencia" INTEGER NOT NULL,
    "fotos" TEXT[],
    "ocurrido_en" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "prueba_intento_pkey" PRIMARY KEY ("comercio_id","modo","guia_id","secuencia")
);

-- CreateTable
CREATE TABLE "prueba_borrada" (
    "comercio_id" UUID NOT NULL,
    "modo" TEXT NOT NULL,
    "guia_id" UUID NOT NULL,
    "borrada_en" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "prueba_borrada_pkey" PRIMARY KEY ("comercio_id","modo","guia_id")
);

-- CreateTable
CREATE TABLE "clave_publica" (
    "kid" TEXT NOT NULL,
    "jwk" JSONB NOT NULL,
    "creado_en" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "clave_publica_pkey" PRIMARY KEY ("kid")
);

-- CreateIndex
CREATE INDEX "archivo_indice_pendiente_idx" ON "archivo_indice"("creado_en") WHERE (estado <> 'listo'::text);

-- CreateIndex
CREATE INDEX "archivo_sin_usar_idx" ON "archivo"("creado_en") WHERE (usado_en IS NULL);

-- CreateIndex
CREATE UNIQUE INDEX "prueba_entrega_id_key" ON "prueba_entrega"("id");

-- CreateIndex
CREATE INDEX "prueba_entrega_sin_pdf_idx" ON "prueba_entrega"("proximo_en") WHERE (pdf IS NULL);

-- CreateIndex
CREATE INDEX "prueba_intento_ocurrido_en_idx" ON "prueba_intento"("ocurrido_en");

-- CreateIndex
CREATE INDEX "prueba_entrega_entregado_en_idx" ON "prueba_entrega"("entregado_en");
