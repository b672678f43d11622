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
    "creada_en" TIMESTAMPTZ(3) NOT NULL,
    "vence_en" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "sesion_repartidor_pkey" PRIMARY KEY ("hash")
);

-- CreateIndex
CREATE UNIQUE INDEX "repartidor_repartidor_key" ON "repartidor"("repartidor");

-- CreateIndex
CREATE UNIQUE INDEX "repartidor_codigo_hash_key" ON "repartidor"("codigo_hash");

-- CreateIndex
CREATE INDEX "sesion_repartidor_repartidor_id_creada_en_idx" ON "sesion_repartidor"("repartidor_id", "creada_en");

-- CreateIndex
CREATE INDEX "sesion_repartidor_vence_en_idx" ON "sesion_repartidor"("vence_en");

-- AddForeignKey
ALTER TABLE "sesion_repartidor" ADD CONSTRAINT "sesion_repartidor_repartidor_id_fkey" FOREIGN KEY ("repartidor_id") REFERENCES "repartidor"("id") ON DELETE RESTRICT ON UPDATE CASCADE;
