import { newGuideCode } from '../../platform/codes/codes.ts'

/**
 * Returns the id of a new event of an endpoint itself, such as a test. The id looks like the id of a guide's event,
 * with the code of a guide that does not exist and sequence 0.
 */
export const newOwnEventId = () => `evt_${newGuideCode()}_0`
