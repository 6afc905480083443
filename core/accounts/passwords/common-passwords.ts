/**
 * Words behind the passwords that are tried first. A password is refused if only one of these is left after removing the usual
 * decorations (capitals, digits and signs around it, 0 for o, 3 for e …). The list is deliberately short: throttling (S115)
 * protects against guessing, this only stops the first dozen tries.
 */
export const commonPasswords: ReadonlySet<string> = new Set(
  `
  password passwort motdepasse contrasena senha wachtwoord parola passw pass passpass passphrase mypassword thepassword
  letmein welcome iloveyou loveyou iloveu trustno changeme changethis default secret secrets test testing tester testtest
  admin administrator root toor master login signin user username guest hello hellohello goodbye whatever nothing
  qwerty qwertyuiop qwertz qwertzuiop azerty azertyuiop asdf asdfgh asdfghjkl yxcvbnm zxcvbnm zxcvbn qazwsx qazwsxedc qweasd
  qweasdzxc qwe qweqwe asdasd asd zaqwsx zaqxsw abc abcd abcde abcdef abcdefg abcdefgh abcabc aaaaaaaa abcdabcd
  football baseball basketball soccer hockey superman batman spiderman pokemon starwars dragon monkey princess sunshine
  shadow michael jennifer jordan charlie daniel jessica ashley nicole thomas matthew andrew anthony alexander samantha
  computer internet keyboard samsung google facebook linkedin microsoft windows apple iphone
  flower butterfly chocolate cheese banana orange summer winter spring autumn january february september october november december
  freedom liverpool chelsea arsenal barcelona juventus ferrari porsche mercedes mustang corvette yamaha harley
  access company office business private security killer hunter ranger buster tigger maverick phoenix
  love lovely lover baby babygirl angel angels blessed jesus jesuschrist heaven
  correcthorsebatterystaple correct horse battery staple
`
    .trim()
    .split(/\s+/),
);
