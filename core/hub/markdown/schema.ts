import type { Schema } from "hast-util-sanitize";

/**
 * What a text that anybody wrote may contain, as a list of what is let through; all else is left out, with its content where it
 * has any that is read. No styles, no forms, no frames, nothing that runs, and no class but those that we give a look.
 */
export function schemaOf(idPrefix: string): Schema {
  const aligned = ["align"];
  return {
    tagNames: [
      ...["h1", "h2", "h3", "h4", "h5", "h6", "p", "div", "span", "br", "hr", "blockquote", "pre", "code", "ul", "ol", "li"],
      ...[
        "a",
        "img",
        "input",
        "section",
        "details",
        "summary",
        "dl",
        "dt",
        "dd",
        "table",
        "thead",
        "tbody",
        "tfoot",
        "tr",
        "th",
        "td",
      ],
      ...[
        "em",
        "strong",
        "b",
        "i",
        "u",
        "s",
        "del",
        "ins",
        "mark",
        "small",
        "sub",
        "sup",
        "kbd",
        "samp",
        "var",
        "q",
        "abbr",
        "cite",
      ],
      ...["ruby", "rt", "rp", "figure", "figcaption", "center"],
    ],
    attributes: {
      "*": ["id", "title", "lang", "dir"],
      a: ["href", "ariaLabel", "ariaDescribedBy", "dataFootnoteRef", "dataFootnoteBackref"],
      img: ["src", "alt", "width", "height", "align"],
      input: [["type", "checkbox"], ["disabled", true], "checked"],
      code: [["className", /^language-[\w+#.-]{1,30}$/]],
      h2: [["className", "sr-only"], "align"],
      ...Object.fromEntries(["h1", "h3", "h4", "h5", "h6", "p", "div", "tr"].map((name) => [name, aligned])),
      th: ["align", "colSpan", "rowSpan"],
      td: ["align", "colSpan", "rowSpan"],
      li: [["className", "task-list-item"]],
      ul: [["className", "contains-task-list"]],
      ol: ["start", ["className", "contains-task-list"]],
      details: ["open"],
      section: ["dataFootnotes"],
    },
    // What stands without its parent ends an element of the page's own: an item in a comment would end the list of comments' item.
    ancestors: {
      ...Object.fromEntries(["thead", "tbody", "tfoot", "tr", "th", "td"].map((name) => [name, ["table"]])),
      li: ["ul", "ol"],
      dt: ["dl"],
      dd: ["dl"],
    },
    required: { input: { disabled: true, type: "checkbox" } },
    protocols: { href: ["http", "https", "mailto"], src: ["http", "https"] },
    // So that no id takes the place of one of ours, or of a property of `document` (DOM clobbering).
    clobber: ["id", "name", "ariaDescribedBy", "ariaLabelledBy"],
    clobberPrefix: idPrefix,
    strip: ["script", "style", "template", "noscript", "iframe", "object", "title", "textarea", "select", "svg", "math"],
  };
}
