export type * from './generado/types.gen.js'
export const version = '0.1.0'
