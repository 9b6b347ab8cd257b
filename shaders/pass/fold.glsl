// Combines as a tree, so that rounding errors stay small. Needs a rule before it: fold_rules.glsl or another one.
#ifdef ONE_CALL
// With one call of both(), where that is long: with three of them, compilers take minutes.
STATE four(STATE a, STATE b, STATE c, STATE d) {
    STATE left = a;
    STATE right = b;
    STATE first_two = nothing;
    for (int i = 0; i < 3; ++i) {
        STATE sum = both(left, right);
        if (i == 0) first_two = sum;
        left = i == 0 ? c : first_two;
        right = i == 0 ? d : sum;
    }
    return right;
}
#else
STATE four(STATE a, STATE b, STATE c, STATE d) { return both(both(a, b), both(c, d)); }
#endif
