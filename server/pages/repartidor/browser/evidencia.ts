// Evidence that merchants ask of a delivery, and what the delivery screen asks of the courier.
import type { PoliticaDeEvidencia } from './dominio.ts'

/** Evidence asked for if the phone knows of no policy, because it has only the guide's code. */
const SIN_POLITICA: PoliticaDeEvidencia = { fotos_minimas: 1, firma: 'opcional', documento: 'opcional' }

/** Parcel of a delivery, with the data that decides about its evidence. */
export interface ConPolitica {
  /** Policy that the phone knows; undefined if it knows none. */
  politica: PoliticaDeEvidencia | undefined
  /** True if the form's receiver also receives this parcel. The document and the signature belong to that person. */
  elMismo: boolean
}

const laMasEstricta = (unas: readonly PoliticaDeEvidencia['firma'][]) =>
  (['obligatoria', 'opcional'] as const).find((una) => unas.includes(una)) ?? 'no'

/** Returns the evidence that the form asks for, so that it suffices for all parcels of the delivery. */
export function evidenciaPara(paquetes: readonly ConPolitica[]): PoliticaDeEvidencia {
  const politicas = paquetes.map(({ politica }) => politica ?? SIN_POLITICA)
  const suyas = politicas.filter((_, i) => paquetes[i]!.elMismo)
  return {
    fotos_minimas: Math.max(...politicas.map(({ fotos_minimas }) => fotos_minimas)),
    firma: laMasEstricta(suyas.map(({ firma }) => firma)),
    documento: laMasEstricta(suyas.map(({ documento }) => documento)),
  }
}

/** Tells whether a parcel needs a signature or a document of its own receiver, which the form cannot take. */
export const pideAparte = ({ politica = SIN_POLITICA, elMismo }: ConPolitica) =>
  !elMismo && (politica.firma === 'obligatoria' || politica.documento === 'obligatoria')

/**
 * Tells which parts of the form's evidence are sent with each parcel. The reason for a missing signature is sent only
 * for parcels that need a signature.
 */
export const loQueLleva = ({ politica = SIN_POLITICA, elMismo }: ConPolitica) => ({
  firma: elMismo && politica.firma !== 'no',
  documento: elMismo && politica.documento !== 'no',
  porque: elMismo && politica.firma === 'obligatoria',
})

/** Evidence that the form contains. */
interface Llenada {
  fotos: readonly unknown[]
  trazos: unknown
  sin_firma: string
  documento: string
}

/** Returns what the courier still has to do, by the name of the form's field. */
export function faltaEvidencia({ fotos_minimas, firma, documento }: PoliticaDeEvidencia, llenada: Llenada) {
  const faltan = fotos_minimas - llenada.fotos.length
  return {
    ...(faltan > 0 ? { fotos: pedirFotos(fotos_minimas, faltan) } : {}),
    ...(firma === 'obligatoria' && !llenada.trazos && llenada.sin_firma === ''
      ? { firma: 'Pida la firma, o elija por qué no la hay.' }
      : {}),
    ...(documento === 'obligatoria' && llenada.documento.trim() === ''
      ? { documento: 'Escriba el número del documento de quien recibe.' }
      : {}),
  }
}

function pedirFotos(minimas: number, faltan: number): string {
  if (minimas === 1) return 'Tome una foto por lo menos.'
  return `${faltan === 1 ? 'Falta 1 foto' : `Faltan ${faltan} fotos`}: el comercio pide ${minimas} por lo menos.`
}
