-- Lists of guides by the state of their decision. Guides without a decision are not in this index.
CREATE INDEX CONCURRENTLY "guia_resolucion_idx" ON "guia"("comercio_id", "modo", ("resolucion" ->> 'estado'), "id") WHERE (resolucion IS NOT NULL);
