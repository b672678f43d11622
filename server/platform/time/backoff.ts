/**
 * Waits between the attempts to hand a message to a provider, in milliseconds: about 18 hours in all. Used for WhatsApp
 * messages that certainly were not sent, and for mails.
 */
export const HANDOVER_WAITS: readonly number[] = [
  5_000, 30_000, 120_000, 600_000, 1_800_000, 3_600_000, 14_400_000, 43_200_000,
]
