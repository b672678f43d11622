-- CreateTable
CREATE TABLE "comercio" (
    "id" UUID NOT NULL,
    "comercio" TEXT NOT NULL,
    "nombre" TEXT NOT NULL,
    "pais" TEXT,
    "estricto" BOOLEAN NOT NULL DEFAULT false,
    "ritmo_solicitudes" INTEGER,
    "ritmo_guias" INTEGER,
    "creado_en" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "comercio_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "operador" (
    "id" UUID NOT NULL,
    "operador" TEXT NOT NULL,
    "nombre" TEXT NOT NULL,
    "creado_en" TIMESTAMPTZ(3) NOT NULL,
    "revocado_en" TIMESTAMPTZ(3),

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
    "redes" TEXT[],
    "creado_en" TIMESTAMPTZ(3) NOT NULL,
    "vence_en" TIMESTAMPTZ(3),
    "revocado_en" TIMESTAMPTZ(3),
    "usado_en" TIMESTAMPTZ(3),

    CONSTRAINT "llave_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "repartidor" (
    "id" UUID NOT NULL,
    "repartidor" TEXT NOT NULL,
    "nombre" TEXT NOT NULL,
    "telefono" TEXT,
    "codigo_hash" BYTEA,
    "version" INTEGER NOT NULL DEFAULT 1,
    "creado_en" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "repartidor_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "sesion_repartidor" (
    "hash" BYTEA NOT NULL,
    "repartidor_id" UUID NOT NULL,
    "version" INTEGER NOT NULL,
    "creado_en" TIMESTAMPTZ(3) NOT NULL,
    "vence_en" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "sesion_repartidor_pkey" PRIMARY KEY ("hash")
);

-- CreateTable
CREATE TABLE "guia" (
    "comercio_id" UUID NOT NULL,
    "modo" TEXT NOT NULL,
    "id" UUID NOT NULL,
    "guia" TEXT NOT NULL,
    "external_ref" TEXT,
    "huellas" TEXT,
    "estado" TEXT NOT NULL,
    "estado_en" TIMESTAMPTZ(3) NOT NULL,
    "custodio" TEXT,
    "telefono" TEXT,
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
    "ubicacion_extra" JSONB,
    "intentos" INTEGER NOT NULL DEFAULT 0,
    "advertencias" JSONB NOT NULL,
    "secuencia" INTEGER NOT NULL,
    "creado_en" TIMESTAMPTZ(3) NOT NULL,
    "actualizado_en" TIMESTAMPTZ(3) NOT NULL,
    "datos_borrados_en" TIMESTAMPTZ(3),

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
    "external_ref" TEXT,
    "tipo" TEXT NOT NULL,
    "estado" TEXT NOT NULL,
    "estado_anterior" TEXT,
    "descripcion" TEXT,
    "motivo" TEXT,
    "lat" DOUBLE PRECISION,
    "lng" DOUBLE PRECISION,
    "datos" JSONB,
    "foto" JSONB NOT NULL,
    "autor" TEXT,
    "custodio" TEXT,
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
    "telefono" TEXT,
    "estado" TEXT NOT NULL,
    "intentos" INTEGER NOT NULL DEFAULT 0,
    "proximo_en" TIMESTAMPTZ(3) NOT NULL,
    "kid" TEXT,
    "proveedor_id" TEXT,
    "codigo" TEXT,
    "motivo" TEXT,
    "creado_en" TIMESTAMPTZ(3) NOT NULL,
    "enviado_en" TIMESTAMPTZ(3),
    "entregado_en" TIMESTAMPTZ(3),
    "leido_en" TIMESTAMPTZ(3),
    "vence_en" TIMESTAMPTZ(3),
    "abierta" BOOLEAN NOT NULL DEFAULT true,

    CONSTRAINT "mensaje_pkey" PRIMARY KEY ("comercio_id","modo","guia_id","numero")
);

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
    "estado_en" TIMESTAMPTZ(3) NOT NULL,
    "comprobado_en" TIMESTAMPTZ(3),
    "fallas" INTEGER NOT NULL DEFAULT 0,
    "primera_falla_en" TIMESTAMPTZ(3),
    "aviso" INTEGER NOT NULL DEFAULT 0,
    "freno_vence_en" TIMESTAMPTZ(3),
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
    "vence_en" TIMESTAMPTZ(3),

    CONSTRAINT "webhook_secreto_pkey" PRIMARY KEY ("comercio_id","modo","webhook","version")
);

-- CreateTable
CREATE TABLE "webhook_entrega" (
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
    "exito" JSON,
    "datos" JSONB,
    "creado_en" TIMESTAMPTZ(3) NOT NULL,
    "terminado_en" TIMESTAMPTZ(3),

    CONSTRAINT "webhook_entrega_pkey" PRIMARY KEY ("comercio_id","modo","webhook","guia_id","secuencia")
);

-- CreateTable
CREATE TABLE "webhook_intento" (
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

    CONSTRAINT "webhook_intento_pkey" PRIMARY KEY ("comercio_id","modo","webhook","guia_id","secuencia","id")
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
    "terminado_en" TIMESTAMPTZ(3),

    CONSTRAINT "recuperacion_pkey" PRIMARY KEY ("comercio_id","modo","webhook","recuperacion")
);

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
    "distancia_avisada_m" INTEGER,
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
    "registrado_en" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "prueba_intento_pkey" PRIMARY KEY ("comercio_id","modo","guia_id","secuencia")
);

-- CreateTable
CREATE TABLE "prueba_borrada" (
    "comercio_id" UUID NOT NULL,
    "modo" TEXT NOT NULL,
    "guia_id" UUID NOT NULL,
    "borrado_en" TIMESTAMPTZ(3) NOT NULL,
    "motivo" TEXT NOT NULL,

    CONSTRAINT "prueba_borrada_pkey" PRIMARY KEY ("comercio_id","modo","guia_id")
);

-- CreateTable
CREATE TABLE "clave_publica" (
    "kid" TEXT NOT NULL,
    "jwk" JSONB NOT NULL,
    "creado_en" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "clave_publica_pkey" PRIMARY KEY ("kid")
);

-- CreateTable
CREATE TABLE "bitacora" (
    "id" UUID NOT NULL,
    "linea" TEXT NOT NULL,
    "comercio_id" UUID,
    "modo" TEXT,
    "accion" TEXT NOT NULL,
    "quien_tipo" TEXT NOT NULL,
    "quien" TEXT,
    "llave" TEXT,
    "sobre_tipo" TEXT,
    "sobre" TEXT,
    "campos" TEXT[],
    "antes" JSONB,
    "despues" JSONB,
    "id_solicitud" TEXT,
    "red" TEXT,
    "creado_en" TIMESTAMPTZ(3) NOT NULL,
    "xid" xid8 NOT NULL DEFAULT pg_current_xact_id(),

    CONSTRAINT "bitacora_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "eslabon" (
    "registro" TEXT NOT NULL,
    "numero" INTEGER NOT NULL,
    "xid" xid8 NOT NULL,
    "lineas" INTEGER NOT NULL,
    "claves" BYTEA NOT NULL,
    "huellas" BYTEA NOT NULL,
    "hash" BYTEA NOT NULL,
    "creado_en" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "eslabon_pkey" PRIMARY KEY ("registro","numero")
);

-- CreateTable
CREATE TABLE "sello" (
    "dia" DATE NOT NULL,
    "jws" TEXT NOT NULL,
    "creado_en" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "sello_pkey" PRIMARY KEY ("dia")
);

-- CreateIndex
CREATE UNIQUE INDEX "comercio_comercio_key" ON "comercio"("comercio");

-- CreateIndex
CREATE UNIQUE INDEX "operador_operador_key" ON "operador"("operador");

-- CreateIndex
CREATE INDEX "llave_comercio_id_creado_en_idx" ON "llave"("comercio_id", "creado_en");

-- CreateIndex
CREATE INDEX "llave_operador_id_creado_en_idx" ON "llave"("operador_id", "creado_en");

-- CreateIndex
CREATE UNIQUE INDEX "repartidor_repartidor_key" ON "repartidor"("repartidor");

-- CreateIndex
CREATE UNIQUE INDEX "repartidor_codigo_hash_key" ON "repartidor"("codigo_hash");

-- CreateIndex
CREATE INDEX "sesion_repartidor_repartidor_id_creado_en_idx" ON "sesion_repartidor"("repartidor_id", "creado_en");

-- CreateIndex
CREATE INDEX "sesion_repartidor_vence_en_idx" ON "sesion_repartidor"("vence_en");

-- CreateIndex
CREATE INDEX "guia_comercio_id_modo_estado_id_idx" ON "guia"("comercio_id", "modo", "estado", "id");

-- CreateIndex
CREATE INDEX "guia_telefono_id_idx" ON "guia"("telefono", "id");

-- CreateIndex
CREATE INDEX "guia_por_olvidar_idx" ON "guia"("estado_en") WHERE ((datos_borrados_en IS NULL) AND (estado = ANY (ARRAY['entregado'::text, 'devuelto'::text, 'cancelado'::text])));

-- CreateIndex
CREATE INDEX "guia_id_idx" ON "guia"("id");

-- CreateIndex
CREATE INDEX "guia_custodio_idx" ON "guia"("custodio", "estado") WHERE (custodio IS NOT NULL);

-- CreateIndex
CREATE UNIQUE INDEX "guia_comercio_id_modo_external_ref_key" ON "guia"("comercio_id", "modo", "external_ref");

-- CreateIndex
CREATE INDEX "evento_xid_idx" ON "evento"("xid");

-- CreateIndex
CREATE INDEX "evento_comercio_id_modo_xid_guia_id_secuencia_idx" ON "evento"("comercio_id", "modo", "xid", "guia_id", "secuencia");

-- CreateIndex
CREATE INDEX "evento_comercio_id_modo_tipo_xid_guia_id_secuencia_idx" ON "evento"("comercio_id", "modo", "tipo", "xid", "guia_id", "secuencia");

-- CreateIndex
CREATE UNIQUE INDEX "mensaje_id_key" ON "mensaje"("id");

-- CreateIndex
CREATE INDEX "mensaje_pendiente_idx" ON "mensaje"("proximo_en") WHERE (estado = ANY (ARRAY['pendiente'::text, 'enviando'::text]));

-- CreateIndex
CREATE INDEX "mensaje_abierto_idx" ON "mensaje"("vence_en") WHERE (abierta);

-- CreateIndex
CREATE INDEX "mensaje_telefono_creado_en_idx" ON "mensaje"("telefono", "creado_en");

-- CreateIndex
CREATE INDEX "mensaje_proveedor_id_idx" ON "mensaje"("proveedor_id");

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
CREATE UNIQUE INDEX "webhook_comercio_id_modo_url_key" ON "webhook"("comercio_id", "modo", "url");

-- CreateIndex
CREATE INDEX "webhook_entrega_comercio_id_modo_webhook_creado_en_guia_id__idx" ON "webhook_entrega"("comercio_id", "modo", "webhook", "creado_en", "guia_id", "secuencia");

-- CreateIndex
CREATE INDEX "webhook_entrega_pendiente_idx" ON "webhook_entrega"("comercio_id", "modo", "webhook", "proximo_en", "guia_id", "secuencia") WHERE (estado = 'pendiente'::text);

-- CreateIndex
CREATE INDEX "webhook_entrega_fallida_idx" ON "webhook_entrega"("comercio_id", "modo", "webhook", "creado_en", "guia_id", "secuencia") WHERE (estado = 'fallida'::text);

-- CreateIndex
CREATE UNIQUE INDEX "recuperacion_paso_key" ON "recuperacion"("paso");

-- CreateIndex
CREATE INDEX "recuperacion_estado_creado_en_idx" ON "recuperacion"("estado", "creado_en");

-- CreateIndex
CREATE UNIQUE INDEX "recuperacion_en_curso_key" ON "recuperacion"("comercio_id", "modo", "webhook") WHERE (estado = 'en_curso'::text);

-- CreateIndex
CREATE INDEX "archivo_indice_pendiente_idx" ON "archivo_indice"("creado_en") WHERE (estado <> 'listo'::text);

-- CreateIndex
CREATE INDEX "archivo_sin_usar_idx" ON "archivo"("creado_en") WHERE (usado_en IS NULL);

-- CreateIndex
CREATE UNIQUE INDEX "prueba_entrega_id_key" ON "prueba_entrega"("id");

-- CreateIndex
CREATE INDEX "prueba_entrega_sin_pdf_idx" ON "prueba_entrega"("proximo_en") WHERE (pdf IS NULL);

-- CreateIndex
CREATE INDEX "prueba_entrega_entregado_en_idx" ON "prueba_entrega"("entregado_en");

-- CreateIndex
CREATE INDEX "prueba_intento_registrado_en_idx" ON "prueba_intento"("registrado_en");

-- CreateIndex
CREATE UNIQUE INDEX "bitacora_linea_key" ON "bitacora"("linea");

-- CreateIndex
CREATE INDEX "bitacora_xid_id_idx" ON "bitacora"("xid", "id");

-- CreateIndex
CREATE INDEX "bitacora_comercio_id_id_idx" ON "bitacora"("comercio_id", "id");

-- CreateIndex
CREATE INDEX "bitacora_quien_id_idx" ON "bitacora"("quien", "id");

-- CreateIndex
CREATE INDEX "bitacora_sobre_id_idx" ON "bitacora"("sobre", "id");

-- CreateIndex
CREATE INDEX "eslabon_registro_creado_en_idx" ON "eslabon"("registro", "creado_en");

-- AddForeignKey
ALTER TABLE "llave" ADD CONSTRAINT "llave_comercio_id_fkey" FOREIGN KEY ("comercio_id") REFERENCES "comercio"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "llave" ADD CONSTRAINT "llave_operador_id_fkey" FOREIGN KEY ("operador_id") REFERENCES "operador"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "sesion_repartidor" ADD CONSTRAINT "sesion_repartidor_repartidor_id_fkey" FOREIGN KEY ("repartidor_id") REFERENCES "repartidor"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "guia" ADD CONSTRAINT "guia_comercio_id_fkey" FOREIGN KEY ("comercio_id") REFERENCES "comercio"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "webhook" ADD CONSTRAINT "webhook_comercio_id_fkey" FOREIGN KEY ("comercio_id") REFERENCES "comercio"("id") ON DELETE RESTRICT ON UPDATE CASCADE;
