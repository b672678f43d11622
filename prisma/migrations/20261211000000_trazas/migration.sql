-- Trace to which an event belongs, so that a delivery that is sent days later belongs to it, too. Null: not traced.
ALTER TABLE "evento" ADD COLUMN "traza" TEXT;
