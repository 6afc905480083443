/** Escapes plain text for HTML, so that nothing in the text acts as markup. */
export const escapedHtml = (text: string): string =>
  text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`).replaceAll("\n", "<br>");
