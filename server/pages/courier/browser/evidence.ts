// Evidence that merchants ask of a delivery, and what the delivery screen asks of the courier.
import type { PoliticaDeEvidencia } from './vocabulary.ts'

/** Evidence asked for if the phone knows of no policy, because it has only the guide's code. */
const DEFAULT_POLICY: PoliticaDeEvidencia = { fotos_minimas: 1, firma: 'opcional', documento: 'opcional' }

/** Parcel of a delivery, with the data that decides about its evidence. */
export interface WithPolicy {
  /** Policy that the phone knows; undefined if it knows none. */
  politica: PoliticaDeEvidencia | undefined
  /** True if the form's receiver also receives this parcel. The document and the signature belong to that person. */
  isSamePerson: boolean
}

const strictestOf = (requirements: readonly PoliticaDeEvidencia['firma'][]) =>
  (['obligatoria', 'opcional'] as const).find((level) => requirements.includes(level)) ?? 'no'

/** Returns the evidence that the form asks for, so that it suffices for all parcels of the delivery. */
export function evidenceFor(parcels: readonly WithPolicy[]): PoliticaDeEvidencia {
  const policies = parcels.map(({ politica }) => politica ?? DEFAULT_POLICY)
  const ownPolicies = policies.filter((_, i) => parcels[i]!.isSamePerson)
  return {
    fotos_minimas: Math.max(...policies.map(({ fotos_minimas }) => fotos_minimas)),
    firma: strictestOf(ownPolicies.map(({ firma }) => firma)),
    documento: strictestOf(ownPolicies.map(({ documento }) => documento)),
  }
}

/** Tells whether a parcel needs a signature or a document of its own receiver, which the form cannot take. */
export const needsOwnEvidence = ({ politica = DEFAULT_POLICY, isSamePerson }: WithPolicy) =>
  !isSamePerson && (politica.firma === 'obligatoria' || politica.documento === 'obligatoria')

/**
 * Tells which parts of the form's evidence are sent with each parcel. The reason for a missing signature is sent only
 * for parcels that need a signature.
 */
export const evidenceParts = ({ politica = DEFAULT_POLICY, isSamePerson }: WithPolicy) => ({
  firma: isSamePerson && politica.firma !== 'no',
  documento: isSamePerson && politica.documento !== 'no',
  reason: isSamePerson && politica.firma === 'obligatoria',
})

/** Evidence that the form contains. */
interface FilledForm {
  fotos: readonly unknown[]
  strokes: unknown
  sin_firma: string
  documento: string
}

/** Returns what the courier still has to do, by the name of the form's field. */
export function findMissingEvidence({ fotos_minimas, firma, documento }: PoliticaDeEvidencia, filled: FilledForm) {
  const missingCount = fotos_minimas - filled.fotos.length
  return {
    ...(missingCount > 0 ? { fotos: formatFotosRequest(fotos_minimas, missingCount) } : {}),
    ...(firma === 'obligatoria' && !filled.strokes && filled.sin_firma === ''
      ? { firma: 'Pida la firma, o elija por qué no la hay.' }
      : {}),
    ...(documento === 'obligatoria' && filled.documento.trim() === ''
      ? { documento: 'Escriba el número del documento de quien recibe.' }
      : {}),
  }
}

function formatFotosRequest(minimum: number, missingCount: number): string {
  if (minimum === 1) return 'Tome una foto por lo menos.'
  return `${missingCount === 1 ? 'Falta 1 foto' : `Faltan ${missingCount} fotos`}: el comercio pide ${minimum} por lo menos.`
}
