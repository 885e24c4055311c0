// Campaigns as they were asked for, kept in this browser: what a campaign measured is in the library, its text is not.

import type { CampaignAsked } from './contract.ts';

const NEW = 'fathom-campaign-draft';
const OF = 'fathom-campaign: ';

/** How the campaign `name` was started here last. */
export function keptDraft(name: string): CampaignAsked | null {
  try {
    return JSON.parse(localStorage.getItem(OF + name) ?? 'null') as CampaignAsked | null;
  } catch {
    return null;
  }
}

export function keepDraft(name: string, asked: CampaignAsked): void {
  try {
    localStorage.setItem(OF + name, JSON.stringify(asked));
  } catch {
    // No room, or not allowed: it is asked for again.
  }
}

/** A text for the editor, from another view of this tab. */
export function handDraft(toml: string): void {
  sessionStorage.setItem(NEW, toml);
}

export function draftOf(): string | null {
  return sessionStorage.getItem(NEW);
}
