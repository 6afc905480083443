export const WITHHELD = "Access to the content of this repository is restricted: only people with access can see the lines.";
