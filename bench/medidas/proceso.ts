import { spawnSync } from 'node:child_process'
import { mkdtempSync } from 'node:fs'
import { chmod, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as dormir } from 'node:timers/promises'
import { cargar } from '../arnes/carga.ts'
import { type Banco, contesta, FLAGS, iniciarPrograma } from '../arnes/entorno.ts'
import type { Medida } from '../arnes/informe.ts'
import { alTerminar } from '../arnes/limpieza.ts'
import { cpuDe, esperarReposo, memoriaDe } from '../arnes/proceso.ts'
import { intercalar, resumir } from '../arnes/rondas.ts'
import { cargaDeCrear, fila } from './crear.ts'

const SERVIDOR = 'server/generado/main.mjs'

const arranque = (banco: Banco) =>
  banco.conBase(async ({ url, crearComercios }) => {
    await crearComercios(1)
    const externa = { DATABASE_URL: url, MASTER_KEYS: banco.masterKeys[0]!.toString('base64'), MESSAGING: 'buzon' }
    /** CPU seconds of each start of the server without npm, including its self-check. */
    const cpu: number[] = []
    const medir = async (programa: string, args: readonly string[], env: NodeJS.ProcessEnv, anotarCpu = false) => {
      const arrancado = await iniciarPrograma(programa, args, env, banco.carpeta, { grupo: true })
      if (anotarCpu) {
        await esperarReposo(arrancado.pid)
        cpu.push(cpuDe(arrancado.pid) ?? Number.NaN)
      }
      await arrancado.terminar()
      while (await contesta(arrancado.url)) await dormir(20) // npm's shell exits before the service
      return arrancado.segundosHastaListo
    }
    const celdas = {
      // Start time of any Node program on this machine.
      nada: async () => {
        const inicio = performance.now()
        spawnSync(process.execPath, ['-e', '0'])
        return (performance.now() - inicio) / 1_000
      },
      servidor: () => medir(process.execPath, [...FLAGS, SERVIDOR], externa, true),
      npm: () => medir('npm', ['start'], externa),
      embebida: async () => {
        const carpeta = mkdtempSync(join(tmpdir(), 'guias-bench-'))
        const borrar = alTerminar(() => rm(carpeta, { recursive: true, force: true }))
        await chmod(carpeta, 0o711)
        const segundos = await medir(process.execPath, [...FLAGS, SERVIDOR], {
          DATABASE_URL: undefined,
          MASTER_KEYS: undefined,
          MESSAGING: undefined,
          DATA_DIR: join(carpeta, 'datos'),
        })
        await borrar()
        return segundos
      },
    }
    await intercalar(1, celdas) // fills the compile cache; `npm start` regenerates outdated files
    cpu.length = 0
    const valores = await intercalar(banco.opciones.rondas, celdas)
    const filaDe = (medida: string, programa: number[], valor: number) => ({
      medida,
      unidad: 's',
      programa: resumir(programa),
      marca: { sentido: '≤' as const, valor, absoluta: true },
    })
    return {
      filas: [
        filaDe('arranque del servidor, con la base en marcha', valores.servidor, 0.5),
        fila(
          'arranque del servidor, con la base en marcha',
          's',
          'node -e 0',
          { programa: valores.servidor, referencia: valores.nada },
          { sentido: '≤', valor: 15 },
        ),
        filaDe('CPU del arranque del servidor, autocomprobación incluida', cpu, 0.8),
        filaDe('arranque con npm start, con la base en marcha', valores.npm, 0.8),
        filaDe('primer arranque, base embebida', valores.embebida, 2),
      ],
    }
  })

const memoria = (banco: Banco) =>
  banco.conBase(async (base) => {
    const minutos = Math.max(2, banco.opciones.memoria)
    const comercios = await base.crearComercios(1)
    const { url, pid } = await base.servicio()
    const muestras: { x: number; mb: number }[] = []
    const inicio = performance.now()
    const muestreo = setInterval(
      () => muestras.push({ x: (performance.now() - inicio) / 60_000, mb: memoriaDe(pid) ?? Number.NaN }),
      1_000,
    )
    try {
      await cargar(cargaDeCrear(url, comercios, 32, minutos * 60))
    } finally {
      clearInterval(muestreo)
    }
    // Uses the samples of a whole half minute, because memory varies with garbage collection.
    const hacia = (minuto: number) => muestras.filter(({ x }) => x > minuto - 0.5 && x <= minuto).map(({ mb }) => mb)
    const [al1, alFinal] = [resumir(hacia(1)), resumir(hacia(minutos))]
    const razon = alFinal.mediana / al1.mediana
    return {
      filas: [
        {
          medida: `memoria tras ${minutos} minutos a plena carga`,
          unidad: 'MB',
          programa: alFinal,
          referencia: { nombre: 'tras 1 minuto', serie: al1 },
          razon: { mediana: razon, min: alFinal.min / al1.max, max: alFinal.max / al1.min },
          marca: { sentido: '≤' as const, valor: 1.1 },
        },
      ],
    }
  })

export const proceso: Medida[] = [
  { clave: 'arranque', descripcion: 'segundos desde que se lanza hasta que está listo', medir: arranque },
  {
    clave: 'memoria',
    descripcion: 'memoria a plena carga (pide --memoria, 2 o más)',
    aparte: ({ memoria: minutos }) => minutos === 0,
    medir: memoria,
  },
]
