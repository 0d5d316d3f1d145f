"""Prints what usd-core's validators find in stages: validate.py FILE..."""

import sys

from pxr import Usd, UsdValidation

validators = UsdValidation.ValidationRegistry().GetOrLoadAllValidators()
context = UsdValidation.ValidationContext(validators)
for file in sys.argv[1:]:
    for error in context.Validate(Usd.Stage.Open(file)):
        print(file, error.GetName(), error.GetMessage())
