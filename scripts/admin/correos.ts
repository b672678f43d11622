import { probarCorreo } from '../../server/domain/correos/probar.ts'
import { CONTEXTO_DE_CONSOLA, type Comando } from './comando.ts'

/** Commands about mail. */
export const COMANDOS_DE_CORREO: Record<string, Comando> = {
  'correos probar': {
    exige: ['para'],
    objeto: 'para',
    ejecutar: (deps, { para = '' }) => probarCorreo(deps, CONTEXTO_DE_CONSOLA, para),
  },
}
