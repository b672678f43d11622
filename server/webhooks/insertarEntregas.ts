/**
 * The outbox: for the events of `e` (a CTE with `returning *` of an insert into `evento`) one delivery row per endpoint that
 * wants them, as a CTE to stand in the statement that writes them, so that both commit or neither does. A paused endpoint's
 * rows wait; a disabled one gets none (its merchant recovers them).
 */
export const insertarEntregasDeWebhook = (e: string) => `
  insert into webhook_entrega (comercio_id, modo, webhook, guia_id, secuencia, evento, tipo, estado, causa, proximo_en, creado_en)
  select w.comercio_id, w.modo, w.webhook, e.guia_id, e.secuencia, 'evt_' || e.guia || '_' || e.secuencia, e.tipo,
    'pendiente', 'automatica', e.registrado_en, e.registrado_en
  from ${e} e join webhook w on w.comercio_id = e.comercio_id and w.modo = e.modo
  where w.estado in ('activo', 'pausado') and ${quiere('w', 'e')}
  returning 1`

/** Whether an endpoint's types, wildcards included, name an event's. */
export const quiere = (w: string, e: string) =>
  `${w}.tipos && array['*', split_part(${e}.tipo, '.', 1) || '.*', ${e}.tipo]`
