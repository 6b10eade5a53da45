"""What an API server does with CustomResourceDefinitions and with the objects they define.

`definition` reads definitions, `checks` judges them; `objects` reads and judges the objects of one served version;
`values` holds what a schema does to a value, `cel` evaluates expressions. All of it is pure: no requests, no storage,
no clock.
"""
