# Description: the scene of one session on one device on its way to the loop; a Writer makes and holds it.

# Every scene of the service is in use.
class NoScene(ValueError): ...
