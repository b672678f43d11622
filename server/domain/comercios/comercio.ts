import { DEFAULT_RATES } from '../../api/limits/rates.ts'
import { type Db, statement } from '../../data/db.ts'
import type { comercio } from '../../generated/contract/prisma/client.ts'
import type {
  Comercio,
  Pais,
  PoliticaDeEvidencia,
  PoliticaDeEvidenciaParaCambiar,
  PoliticaDeIntentos,
  PoliticaDeIntentosParaCambiar,
  RitmosDeComercio,
} from '../../generated/contract/types/index.ts'
import { randomBase32 } from '../../platform/codes/codes.ts'
import { Problema } from '../../platform/errors.ts'

/** Converts a merchant row to the contract's `Comercio`. */
export const presentComercio = ({ comercio, nombre, pais, estricto, creado_en, ...settings }: comercio): Comercio => ({
  comercio,
  nombre,
  pais: pais as Pais | null,
  estricto,
  ritmos: presentRates(settings),
  evidencia: presentEvidencePolicy(settings),
  politica_de_intentos: presentIntentosPolicy(settings),
  creado_en: creado_en.toISOString(),
})

/** Rate limits of a merchant. A limit that the merchant does not have takes the service's default. */
export const presentRates = (row: Pick<comercio, 'ritmo_solicitudes' | 'ritmo_guias'>): RitmosDeComercio => ({
  solicitudes: row.ritmo_solicitudes ?? DEFAULT_RATES.solicitudes,
  guias: row.ritmo_guias ?? DEFAULT_RATES.guias,
})

/** Columns of a merchant that say which evidence its deliveries need. */
export type PolicyColumns = Pick<comercio, 'evidencia_fotos' | 'evidencia_firma' | 'evidencia_documento'>

/** SQL select list for {@link PolicyColumns}; `c` is the alias of the table `comercio`. */
export const POLICY_SQL = 'c.evidencia_fotos, c.evidencia_firma, c.evidencia_documento'

/** Converts the columns of a merchant's evidence policy to the contract's form. */
export const presentEvidencePolicy = (row: PolicyColumns): PoliticaDeEvidencia => ({
  fotos_minimas: row.evidencia_fotos,
  firma: row.evidencia_firma as PoliticaDeEvidencia['firma'],
  documento: row.evidencia_documento as PoliticaDeEvidencia['documento'],
})

// The parameter is named `comercio_id`, so that on Citus both policies are read in the merchant's own part, also within
// a transaction there.

const EVIDENCE_POLICY = statement<{ comercio_id: string }, PolicyColumns>(
  'comercios.evidencePolicy',
  'merchant',
  `select ${POLICY_SQL} from comercio c where c.id = :comercio_id`,
)

/** Reads the evidence that deliveries of a merchant need now. */
export async function readEvidencePolicy(db: Db, id: string): Promise<PoliticaDeEvidencia> {
  const [row] = await db.query(EVIDENCE_POLICY, { comercio_id: id })
  return presentEvidencePolicy(row!)
}

/** Columns of a merchant that say what happens after a failed delivery attempt. */
export type IntentosColumns = Pick<
  comercio,
  | 'politica_de_intentos_maximos'
  | 'politica_de_intentos_dias_entre'
  | 'politica_de_intentos_dias_para_decidir'
  | 'politica_de_intentos_al_vencer'
  | 'politica_de_intentos_destinatario_decide'
>

/** Converts the columns of a merchant about failed delivery attempts to the contract's form. */
export const presentIntentosPolicy = (row: IntentosColumns): PoliticaDeIntentos => ({
  maximos: row.politica_de_intentos_maximos,
  dias_entre: row.politica_de_intentos_dias_entre,
  dias_para_decidir: row.politica_de_intentos_dias_para_decidir,
  al_vencer: row.politica_de_intentos_al_vencer as PoliticaDeIntentos['al_vencer'],
  destinatario_decide: row.politica_de_intentos_destinatario_decide,
})

const INTENTOS_POLICY = statement<{ comercio_id: string }, IntentosColumns>(
  'comercios.intentosPolicy',
  'merchant',
  `select politica_de_intentos_maximos, politica_de_intentos_dias_entre, politica_de_intentos_dias_para_decidir, politica_de_intentos_al_vencer,
     politica_de_intentos_destinatario_decide from comercio where id = :comercio_id`,
)

/** Reads the merchant's present policy about failed delivery attempts. */
export async function readIntentosPolicy(db: Pick<Db, 'query'>, id: string): Promise<PoliticaDeIntentos> {
  const [row] = await db.query(INTENTOS_POLICY, { comercio_id: id })
  return presentIntentosPolicy(row!)
}

/** Settings of a merchant, named as in requests. */
interface RequestedSettings {
  ritmos?: RitmosDeComercio
  evidencia?: PoliticaDeEvidenciaParaCambiar
  politica_de_intentos?: PoliticaDeIntentosParaCambiar
}

/** Converts the contract's fields of a merchant to columns. */
export const columnsOf = <T extends RequestedSettings>({
  ritmos,
  evidencia: { fotos_minimas, firma, documento } = {},
  politica_de_intentos: { maximos, dias_entre, dias_para_decidir, al_vencer, destinatario_decide } = {},
  ...rest
}: T) => ({
  ...rest,
  ...(ritmos && { ritmo_solicitudes: ritmos.solicitudes, ritmo_guias: ritmos.guias }),
  ...(fotos_minimas !== undefined && { evidencia_fotos: fotos_minimas }),
  ...(firma !== undefined && { evidencia_firma: firma }),
  ...(documento !== undefined && { evidencia_documento: documento }),
  ...(maximos !== undefined && { politica_de_intentos_maximos: maximos }),
  ...(dias_entre !== undefined && { politica_de_intentos_dias_entre: dias_entre }),
  ...(dias_para_decidir !== undefined && { politica_de_intentos_dias_para_decidir: dias_para_decidir }),
  ...(al_vencer !== undefined && { politica_de_intentos_al_vencer: al_vencer }),
  ...(destinatario_decide !== undefined && { politica_de_intentos_destinatario_decide: destinatario_decide }),
})

/**
 * Columns of a merchant whose values the audit record contains. Excludes the name, because it may be the name of a
 * person.
 */
export const AUDITED = [
  ...(['pais', 'estricto', 'ritmo_solicitudes', 'ritmo_guias'] as const),
  ...(['evidencia_fotos', 'evidencia_firma', 'evidencia_documento'] as const),
  ...([
    'politica_de_intentos_maximos',
    'politica_de_intentos_dias_entre',
    'politica_de_intentos_dias_para_decidir',
    'politica_de_intentos_al_vencer',
  ] as const),
  'politica_de_intentos_destinatario_decide',
] as const

/** Values of a merchant that the audit record contains. */
export const pickAudited = (row: Pick<comercio, (typeof AUDITED)[number]>) =>
  Object.fromEntries(AUDITED.map((column) => [column, row[column]]))

/** Creates a public identifier for a merchant. */
export const newComercioCode = () => `com_${randomBase32(12)}`

/** Finds a merchant by its public identifier; undefined for an unknown or malformed identifier. */
export async function findComercio(db: Db, code: string): Promise<comercio | undefined> {
  if (!/^com_[0-9A-Z]{12}$/.test(code)) return undefined
  return (await db.prisma.comercio.findUnique({ where: { comercio: code } })) ?? undefined
}

/**
 * Finds a merchant by its public identifier.
 * @throws Problema 404 if no merchant has the identifier
 */
export async function requireComercio(db: Db, code: string): Promise<comercio> {
  const row = await findComercio(db, code)
  if (!row) throw new Problema('comercio_desconocido', 'No hay ningún comercio con ese identificador.')
  return row
}
