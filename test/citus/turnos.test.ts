import { expect, it } from 'vitest'
import { olvidarPersonas } from '../../server/domain/personas/olvidar.ts'
import { borrarPruebas } from '../../server/domain/pruebasEntrega/borrar.ts'
import { olvidarUbicaciones } from '../../server/domain/ubicacion/olvidar.ts'
import { createLog } from '../../server/platform/log.ts'
import { usarEntorno } from '../entorno.ts'
import { ajustesCon } from '../fabricas.ts'

const entorno = usarEntorno({}, () => ({ WORKERS: '0' }))

it('what writes several tables on all machines waits for its turn, and never for what waits for it', async () => {
  const deps = {
    db: entorno.db.como('guias_trabajos'),
    reloj: entorno.reloj,
    log: createLog('silent'),
    ajustes: ajustesCon(),
  }
  for (let ronda = 0; ronda < 10; ronda++) {
    const hechas = await Promise.all([olvidarUbicaciones(deps), olvidarPersonas(deps), borrarPruebas(deps)])
    expect(hechas).toEqual([false, false, false])
  }
})
