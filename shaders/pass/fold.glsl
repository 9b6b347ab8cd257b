// As a tree, so that rounding errors stay small. After the rule: fold_rules.glsl or one's own.
STATE four(STATE a, STATE b, STATE c, STATE d) { return both(both(a, b), both(c, d)); }
