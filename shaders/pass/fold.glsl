// Combines as a tree, so that rounding errors stay small. Needs a rule before it: fold_rules.glsl or another one.
STATE four(STATE a, STATE b, STATE c, STATE d) { return both(both(a, b), both(c, d)); }
