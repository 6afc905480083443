type Row = readonly [pattern: RegExp, say: string, example: string];

/**
 * The phrases of decision 086, grouped by the reason. Each has the words to use instead, and a sentence that its pattern finds. A
 * space stands for any white space, and case does not matter. Add a phrase only if its pattern finds no correct sentence.
 */
const reasons: Readonly<Record<string, readonly Row[]>> = {
  "a negation in the wrong place": [
    [/(nobody|nothing|none) but/, "only", "Nobody but the owner reads it."],
    [/(?<!there )(is|are|was|were) none(?=[.,;:)])/, "is not one; does not count; must …", "An alarm that nobody hears is none."],
    [/(?<!there )is no(?= (?!longer|other|more|less|different|better|worse)\w)/, "is not a", "Loopback is no proof."],
    [/any more(?=[.,;:)])/, "no longer", "The old secret signs nothing any more."],
    [
      /keep(s|ing)? (nobody|anybody|everybody|somebody|others|people|strangers)( \w+){0,3} from/,
      "cannot block; prevents",
      "A full inbox keeps nobody else from theirs.",
    ],
  ],
  "a clause in place of a noun": [
    [/what (is|was) asked(?! for)/, "the question; the request", "What is asked is whether the run ended."],
    [/(takes?|taking) what/, "accepts", "The door takes what it takes."],
    [/what (stands|lies|hangs|came of|comes of)/, "the text; the files; the result of", "It shows what came of it."],
    [/(to|of|for|by|from|with|says) whoever/, "the user; the caller; the operator", "It belongs to whoever asked first."],
  ],
  "a word-for-word translation": [
    [/(told|tells?|telling) of/, "is notified of; reports", "Apps are told of the end of a session."],
    [/(at most|only|every|after|of) so (many|often|much)/, "this many; the number", "It keeps only so many rows."],
    [/as \w+( \w+){0,2} (has|have) it(?=[.,;:)])/, "as … specifies", "It is signed as the standard has it."],
    [/so to (say|speak)/, "(nothing)", "Another device, so to say."],
    [/(goes|going|went) on(?! to)/, "continues", "The sign-in goes on."],
    [/(gives?|giving|gave) way/, "is deleted; waits; yields to", "The oldest gives way."],
    [/lies? (in|at|on|below|beside|there)/, "is in; is stored in", "Where the key lies in the file."],
    [/(is|are|was|were) good (there|once|for one)/, "is valid", "A token is good there."],
  ],
  "one word for one thing (docs/glossary.md)": [
    [/under way/, "in progress; running", "Requests that are under way finish."],
    [/(is|are|was|were|be) let in(?=[.,;:)]|$)/, "admitted", "The app is let in."],
    [/e-mails?(?! and sessions)/, "email", "It sends an e-mail."],
    [/letters? (to|about) (the|an?|its|their|administrators|owners?)/, "email", "It queues a letter to the owner."],
  ],
  "American spelling": [
    [/for ever/, "forever", "It is kept for ever."],
    [/\w*(colour|behaviour|neighbour|favour|honour)\w*/, "-or", "Its behaviour differs."],
    [/(judgement|licence|catalogue|defence|centred|labelled)s?/, "judgment, license, catalog …", "A second line of defence."],
    [/(recogn|normal|synchron|organ|author|serial|sanit|initial|optim)is(e|es|ed|ing|ation)\w*/, "-ize", "It is normalised."],
  ],
};

/** Only for docs/strings.txt. */
const onScreen: Readonly<Record<string, readonly Row[]>> = {
  "the words of the screens (docs/glossary.md)": [
    [/(is|are) like that/, "No users match", "Nobody is like that"],
    [/(has|have|is) run out/, "has expired", "This code has run out"],
    [/(taken?|took|takes) (it |them |that )?back/, "revoke; withdraw; undo", "The invitation was taken back."],
    [/(is|are|was|were|been|be) let in(to)?/, "allowed; has access", "The app is let in again."],
    [/letters?(?= (to|with|is|went|about|for))|get a letter/, "e-mail", "They get a letter."],
    [
      /ma[dk]es? (an?|some|your|another|new) (new )?(tokens?|webhook|app|secret|key|account|repository|collection|URL)/,
      "create",
      "Make a token.",
    ],
    [/stands? here/, "appears here", "The app stands here."],
    [/holds? (at once|from)/, "applies immediately", "The rule holds at once."],
    [/that it is you/, "Confirm your identity", "Confirm that it is you."],
    [/anew/, "again", "Set it up anew."],
    [
      /(to|and|with|for) whoever|whoever (has|asks|owns|made|writes|may|sees|can)/,
      "anyone who",
      "Whoever has the token can use it.",
    ],
    [/(no|an|the|its|their) answers?(?= (came|has|is|was|in|of|from|within|to this)|$)/, "response", "No answer came in time."],
    [/(at|from) this address/, "at this URL", "There is nothing at this address."],
    [/under way/, "in progress", "3 requests are under way."],
    [/(nobody|nothing|none) but/, "only", "Nobody but you sees it."],
    [/(told|tells?) of/, "notified of", "Your server is told of sign-outs."],
    [/present (one|ones|key|keys|picture|password|secret)/, "current", "Keep the present one"],
  ],
};

const flat = (all: typeof reasons) =>
  Object.entries(all).flatMap(([why, rows]) => rows.map(([pattern, say, example]) => ({ pattern, say, example, why })));

export const phrases = flat(reasons);
export const screenPhrases = flat(onScreen);
