import { formatInstant, type Instant, NS_PER_SECOND } from '../kernel/instant.ts';
import { type XmlElement, xmlOf } from '../kernel/xml.ts';

/** A message of ISO 20022 as the text of a file. */
export const messageText = (name: string, content: XmlElement): string =>
  `<?xml version="1.0" encoding="UTF-8"?>\n${xmlOf(['Document', [content], { xmlns: `urn:iso:std:iso:20022:tech:xsd:${name}` }])}\n`;

/** Whole seconds: some banks refuse fractions of nine digits. */
export const secondOf = (at: Instant): string => formatInstant(at - (at % NS_PER_SECOND));
