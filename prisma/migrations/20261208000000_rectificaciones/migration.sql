-- A delivery that was undone keeps its proof, and the next delivery of the guide gets another one. Proofs are therefore
-- keyed by guide and event.
ALTER TABLE "prueba_entrega" ADD COLUMN "rectificada_en" TIMESTAMPTZ(3);
ALTER TABLE "prueba_entrega" DROP CONSTRAINT "prueba_entrega_pkey";
-- Citus cannot make a primary key from an index that was built before.
-- Reads and writes of proofs wait while the index is built, about a second for a million proofs.
-- squawk-ignore adding-serial-primary-key-field, constraint-missing-not-valid
ALTER TABLE "prueba_entrega" ADD CONSTRAINT "prueba_entrega_pkey" PRIMARY KEY ("comercio_id", "modo", "guia_id", "secuencia");
